import { describe, expect, test } from "vitest";
import {
  hunkFrom,
  parseDiff,
  selectShownLines,
  totals,
  columns,
  visible,
  spanOf,
  SPARE,
  STEP,
} from "./diff.ts";

const brief = (text: string) =>
  parseDiff(text).map((line) => `${line.kind} ${line.old ?? "."} ${line.new ?? "."} ${line.text}`);

const CHANGE = [
  "diff --git a/x b/x",
  "index 111..222 100644",
  "--- a/x",
  "+++ b/x",
  "@@ -3,4 +3,4 @@ def f():",
  " same",
  "-- old list item",
  "-gone",
  "+new",
  "++ plus",
  " last",
  "\\ No newline at end of file",
  "",
].join("\n");

describe("a diff", () => {
  test("has each line's numbers, and only counts end a hunk", () => {
    expect(brief(CHANGE)).toEqual([
      "head . . diff --git a/x b/x",
      "head . . index 111..222 100644",
      "head . . --- a/x",
      "head . . +++ b/x",
      "hunk . . @@ -3,4 +3,4 @@ def f():",
      "same 3 3 same",
      "del 4 . - old list item",
      "del 5 . gone",
      "add . 4 new",
      "add . 5 + plus",
      "same 6 6 last",
      "note . . No newline at end of file",
    ]);
    expect(totals(parseDiff(CHANGE))).toEqual({ added: 2, removed: 2, hunks: 1 });
  });

  test("of a removed file ends behind its last line", () => {
    const text = "@@ -1 +0,0 @@\n--- a/y\ndiff --git a/z b/z\nold mode 100644\n";
    expect(brief(text)).toEqual([
      "hunk . . @@ -1 +0,0 @@",
      "del 1 . -- a/y",
      "head . . diff --git a/z b/z",
      "head . . old mode 100644",
    ]);
  });

  test("of a merge counts the first parent's lines before", () => {
    const text = [
      "@@@ -1,3 -1,3 +1,5 @@@",
      "  both",
      "++<<<<<<< ours",
      " +theirs",
      "+ ours",
      "- gone",
      " -other",
    ].join("\n");
    expect(brief(text)).toEqual([
      "hunk . . @@@ -1,3 -1,3 +1,5 @@@",
      "same 1 1 both",
      "add . 2 <<<<<<< ours",
      "add 2 3 theirs",
      "add . 4 ours",
      "del 3 . gone",
      "del . . other",
    ]);
  });

  test("shows of its head only what is said nowhere else", () => {
    const text = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n";
    expect(selectShownLines(parseDiff(text)).map((line) => line.text)).toEqual([
      "old mode 100644",
      "new mode 100755",
    ]);
    expect(parseDiff("")).toEqual([]);
  });

  test("cut in the middle of a hunk is shown as far as it goes", () => {
    expect(totals(parseDiff("@@ -1,900 +1,900 @@\n-a\n+b\n"))).toEqual({ added: 1, removed: 1, hunks: 1 });
  });

  test("leads from one change to the next", () => {
    const lines = parseDiff("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n");
    expect([hunkFrom(lines, 0, 1), hunkFrom(lines, 3, 1), hunkFrom(lines, 4, -1)]).toEqual([3, undefined, 3]);
  });
});

describe("the drawn rows", () => {
  test("cover what is seen wherever it is, and stay few", () => {
    for (const top of [0, 1, 299, 300, 12_345, 4_000_000 - 600]) {
      const { first, end } = spanOf(top, 600, 20, 200_000);
      expect(first * 20).toBeLessThanOrEqual(top);
      expect(end * 20).toBeGreaterThanOrEqual(Math.min(top + 600, 4_000_000));
      expect(end - first).toBeLessThanOrEqual(30 + 2 * SPARE + 2 * STEP);
    }
  });

  test("stay the same while the window moves a little", () => {
    expect(spanOf(299, 600, 20, 1000)).toEqual(spanOf(0, 600, 20, 1000));
  });

  test("are none of an empty list, and all of a short one", () => {
    expect(spanOf(0, 600, 20, 0)).toEqual({ first: 0, end: 0 });
    expect(spanOf(0, 600, 20, 5)).toEqual({ first: 0, end: 5 });
    expect(spanOf(9_999, 600, 20, 5).end).toBe(5);
  });
});

describe("characters", () => {
  test.each([
    ["if (a) { /* \u202e } */", "if (a) { /* ‹202E› } */"],
    ["x\u200by\x1b[31m", "x‹200B›y‹001B›[31m"],
    ["end\r", "end␍"],
    ["\tkept é 漢", "\tkept é 漢"],
  ])("that hide or turn the text are written out", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test("take their columns", () => {
    expect([columns("abc"), columns("\ta"), columns("漢a"), columns("\u202e")]).toEqual([3, 5, 3, 8]);
  });
});
