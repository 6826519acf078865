import { describe, expect, test } from "vitest";
import { searchEntries, SHOWN } from "./entries.ts";
import type { Entry } from "./model.ts";
import { match, runs } from "./fuzzy.ts";
import { listFolderEntries } from "./moreentries.ts";
import type { Session } from "../../api/types.ts";

const entry = (label: string, detail?: string): Entry => ({
  key: label,
  group: "Sessions",
  label,
  detail,
  act: () => undefined,
});

const names = (letters: string, ...labels: string[]) =>
  searchEntries(
    labels.map((label) => entry(label)),
    letters,
  ).map((hit) => hit.entry.label);

describe("letters", () => {
  test.each([
    ["New session", "ns", [0, 4]],
    ["New session", "session", [4, 5, 6, 7, 8, 9, 10]],
    ["payments-api", "pa", [0, 1]],
    ["fooBar", "fb", [0, 3]],
    ["Scheduled jobs", "JOBS", [10, 11, 12, 13]],
    ["one two", "o t", [0, 4]],
  ])("of %s: %s", (text, letters, at) => {
    expect(match(text, letters)?.at).toEqual(at);
  });

  test("that were typed stand apart, in runs", () => {
    const told = runs("New session", [0, 4, 5]).map(({ part, hit }) => (hit ? `<${part}>` : part));
    expect(told.join("")).toBe("<N>ew <se>ssion");
    expect(runs("one", [])).toEqual([{ part: "one", hit: false }]);
  });

  test("that are missing, or stand in another order", () => {
    expect(match("New session", "x")).toBeUndefined();
    expect(match("ab", "ba")).toBeUndefined();
  });
});

describe("what was found", () => {
  test("words that begin so come before letters that stand apart", () => {
    expect(names("api", "capital in", "payments-api")[0]).toBe("payments-api");
    expect(names("cl", "Cycle", "Close")[0]).toBe("Close");
  });

  test("a label before a detail", () => {
    const all = [entry("one", "/srv/git"), entry("git")];
    expect(searchEntries(all, "git").map((hit) => hit.entry.label)).toEqual(["git", "one"]);
  });

  test("without letters everything, as it stands", () => {
    expect(names("", "b", "a")).toEqual(["b", "a"]);
  });

  test("no more than a person reads", () => {
    const many = Array.from({ length: SHOWN + 9 }, (_, n) => `session ${n}`);
    expect(names("", ...many)).toHaveLength(SHOWN);
    expect(names("s", ...many)).toHaveLength(SHOWN);
  });
});

test("a workspace is offered once, and none of another machine", () => {
  const at = (workingDir: string, remote?: object) => ({ workingDir, remote }) as unknown as Session;
  const found = listFolderEntries([at("/w/one"), at("/w/two"), at("/w/one"), at("/far", { hostId: "box" })]);
  expect(found.map((each) => each.detail)).toEqual(["/w/one", "/w/two"]);
});
