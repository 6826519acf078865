import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Entry, listFolderEntries } from "./entries.ts";
import { match, matchWords, noteUsed, readUsed, runs, searchEntries, SHOWN, USED_KEPT } from "./search.ts";
import type { Session } from "../../api/types.ts";

const entry = (label: string, detail?: string): Entry => ({
  key: label,
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

  test("another word for it, whole or begun, before letters that stand apart", () => {
    const all = [entry("Gemini diligent offer"), { ...entry("Changes"), words: "git diff" }];
    const first = (letters: string) => searchEntries(all, letters)[0]?.entry.label;
    expect([first("diff"), first("dif"), first("changes git")]).toEqual(["Changes", "Changes", "Changes"]);
    expect(first("gemini")).toBe("Gemini diligent offer");
  });

  test("a session's own name before another word for a command", () => {
    const session = (label: string) => ({ ...entry(label), session: { name: label } as Session });
    const first = (letters: string, ...all: Entry[]) => searchEntries(all, letters)[0]?.entry.label;
    expect(first("web", entry("Web tabs"), session("website"))).toBe("website");
    const all = [{ ...entry("Close"), words: "kill end" }, session("the kill switch")];
    expect(searchEntries(all, "kill").map(({ entry: { label } }) => label)).toEqual([
      "the kill switch",
      "Close",
    ]);
  });

  test.each([
    ["split-window", "split compare split-window", true],
    ["Split Win", "split-window", true],
    ["window x", "split-window", false],
    ["plit", "split-window", false],
  ])("%s among the words %s: %s", (letters, words, found) => {
    expect(matchWords("", words, letters) !== undefined).toBe(found);
  });

  test("what was used comes first, and wins among its like", () => {
    const all = ["one", "two", "three"].map((label) => entry(label));
    const labels = (letters: string, ...used: string[]) =>
      searchEntries(all, letters, used).map((hit) => hit.entry.label);
    expect(labels("", "three", "gone", "two")).toEqual(["three", "two", "one"]);
    expect(labels("t")).toEqual(["two", "three"]);
    expect(labels("t", "three")).toEqual(["three", "two"]);
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

describe("what was used", () => {
  const stored = new Map<string, string>();
  beforeEach(() => {
    stored.clear();
    vi.stubGlobal("localStorage", {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
    });
  });
  afterEach(() => void vi.unstubAllGlobals());

  test("is kept once each, the last ones alone", () => {
    for (const key of ["a", "b", "a", ...Array.from({ length: USED_KEPT }, (_, n) => `c${n}`)]) noteUsed(key);
    expect(readUsed()).toEqual(Array.from({ length: USED_KEPT }, (_, n) => `c${USED_KEPT - 1 - n}`));
    noteUsed("c0");
    expect(readUsed()[0]).toBe("c0");
    expect(new Set(readUsed()).size).toBe(USED_KEPT);
  });

  test.each(["{", "7", "null", '{"a":1}', "[1,null]"])("that is stored as %s is nothing", (text) => {
    stored.set("tservice.commands", text);
    expect(readUsed()).toEqual([]);
  });
});

test("a workspace is offered once, and none of another machine", () => {
  const at = (workingDir: string, remote?: object) => ({ workingDir, remote }) as unknown as Session;
  const found = listFolderEntries([at("/w/one"), at("/w/two"), at("/w/one"), at("/far", { hostId: "box" })]);
  expect(found.map((each) => each.detail)).toEqual(["/w/one", "/w/two"]);
});
