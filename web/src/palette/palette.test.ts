import { describe, expect, test } from "vitest";
import { type Entry, found, SHOWN } from "./entries.ts";
import { match } from "./fuzzy.ts";

const entry = (label: string, detail?: string): Entry => ({
  key: label,
  group: "Sessions",
  label,
  detail,
  act: () => undefined,
});

const names = (letters: string, ...labels: string[]) =>
  found(
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
    expect(found(all, "git").map((hit) => hit.entry.label)).toEqual(["git", "one"]);
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
