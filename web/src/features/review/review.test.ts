import { describe, expect, test, vi } from "vitest";
import type { ChangedFileItem, CommentResponse, FileDiffResponse, RowResponse } from "../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { findNext, parseView } = await import("./state.ts");
const { findLoose, findThread, spanLines, splitRows, splitWords } = await import("./rows.ts");
const { chooseSides } = await import("./turns.ts");
const { readSwipe, SWIPE } = await import("./gestures.ts");
const { joinPages } = await import("./FileDiff.tsx");
const { isShown, matchesPath, only } = await import("./open.ts");
const { visibleLines } = await import("../git/diff/diff.ts");
const { groupByFolder } = await import("./FileTree.tsx");

const row = (kind: RowResponse["kind"], old?: number, now?: number): RowResponse => ({
  kind,
  text: `${kind} ${old ?? now}`,
  ...(old !== undefined && { old }),
  ...(now !== undefined && { new: now }),
});

const file = (path: string, viewed = false) =>
  ({ path, viewed, kind: [], comments: { open: 0, sent: 0, outdated: 0 } }) as unknown as ChangedFileItem;

const listed = (path: string, viewed = false) => ({ repo: ".", path, file: file(path, viewed) });

const comment = (side: "old" | "new", endLine: number | undefined, path = "f") =>
  ({
    repo: ".",
    side,
    anchor: { path, state: "same", lines: [], ...(endLine !== undefined && { endLine }) },
  }) as unknown as CommentResponse;

describe("the next file", () => {
  const files = [listed("a", true), listed("b"), listed("c", true), listed("d")];

  test("is beside the chosen one, and none is behind the last", () => {
    expect(findNext(files, undefined, 1)?.path).toBe("a");
    expect(findNext(files, { repo: ".", path: "a" }, 1)?.path).toBe("b");
    expect(findNext(files, { repo: ".", path: "b" }, -1)?.path).toBe("a");
    expect(findNext(files, { repo: ".", path: "d" }, 1)).toBeUndefined();
    expect(findNext(files, { repo: ".", path: "a" }, -1)).toBeUndefined();
  });

  test("that nobody has seen is looked for from the chosen one on, then from the start", () => {
    expect(findNext(files, { repo: ".", path: "b" }, 1, true)?.path).toBe("d");
    expect(findNext(files, { repo: ".", path: "d" }, 1, true)?.path).toBe("b");
    expect(findNext([listed("a", true)], undefined, 1, true)).toBeUndefined();
  });
});

describe("rows", () => {
  test("stand side by side: removed beside what replaces them", () => {
    const rows = [
      row("context", 1, 1),
      row("removed", 2),
      row("removed", 3),
      row("added", undefined, 2),
      row("context", 4, 3),
      row("added", undefined, 4),
    ];
    const drawn = splitRows(rows).map(({ left, right }) => [left?.old, right?.new]);
    expect(drawn).toEqual([
      [1, 1],
      [2, 2],
      [3, undefined],
      [4, 3],
      [undefined, 4],
    ]);
  });

  test("mark the words that changed, if any", () => {
    expect(splitWords({ ...row("added", undefined, 1), text: "one two", words: [4, 7] })).toEqual([
      "one ",
      "two",
      "",
    ]);
    expect(splitWords({ ...row("added", undefined, 1), text: "one two" })).toEqual(["one two", "", ""]);
  });

  test("have the comments of their side below them; the others stand above", () => {
    const all = [comment("new", 2), comment("old", 2), comment("new", undefined), comment("new", 2, "other")];
    const added = row("added", undefined, 2);
    const removed = row("removed", 2);
    expect(findThread(all, { repo: ".", path: "f" }, added)).toEqual([all[0]]);
    expect(findThread(all, { repo: ".", path: "f" }, removed)).toEqual([all[1]]);
    expect(findLoose(all, { repo: ".", path: "f" }, [added, removed])).toEqual([all[2]]);
  });

  test("are chosen from either end", () => {
    expect(spanLines("new", 5, 3)).toEqual({ side: "new", line: 3, endLine: 5 });
  });
});

test("a text of several lines keeps them, and shows what is hidden", () => {
  expect(visibleLines("one\n\u202etwo\n")).toBe("one\n‹202E›two\n");
});

test("a hunk that goes on on the next page is one again", () => {
  const part = (rows: RowResponse[], continued = false) => ({
    id: "h",
    rows,
    ...(continued && { continued }),
  });
  const page = (hunks: unknown[], next: number | null) => ({ hunks, next }) as unknown as FileDiffResponse;
  const first = page([part([row("added", undefined, 1)])], 1);
  const second = page([part([row("added", undefined, 2)], true), { ...part([]), id: "other" }], null);
  const joined = joinPages(first, second);
  expect(joined.hunks.map((hunk) => [hunk.id, hunk.rows.length])).toEqual([
    ["h", 2],
    ["other", 0],
  ]);
  expect(joined.next).toBeNull();
});

test("files are grouped by folder in their order", () => {
  const groups = groupByFolder([file("a"), file("x/b"), file("c"), file("x/y/d")]);
  expect(groups.map(([folder, files]) => [folder, files.length])).toEqual([
    ["", 2],
    ["x/", 1],
    ["x/y/", 1],
  ]);
});

test("a swipe is long and flat", () => {
  expect(readSwipe(-SWIPE, 0)).toBe(1);
  expect(readSwipe(SWIPE, 10)).toBe(-1);
  expect(readSwipe(SWIPE - 1, 0)).toBe(0);
  expect(readSwipe(SWIPE, SWIPE)).toBe(0);
});

test("what is stored of the view may be anything", () => {
  expect(parseView("nonsense", false).split).toBe(false);
  expect(parseView('{"split":true,"wrap":1}', false)).toMatchObject({ split: true, wrap: false });
  expect(parseView(null, true).wrap).toBe(true);
});

describe("the files of a turn", () => {
  test("are matched by the end of their paths, and by their old names", () => {
    expect(matchesPath("/work/src/a.py", "src/a.py")).toBe(true);
    expect(matchesPath("a.py", "src/a.py")).toBe(true);
    expect(matchesPath("/work/xa.py", "a.py")).toBe(false);
    only.value = ["/work/src/a.py"];
    expect(isShown({ path: "src/a.py" })).toBe(true);
    expect(isShown({ path: "src/b.py", origPath: "src/a.py" })).toBe(true);
    expect(isShown({ path: "src/b.py" })).toBe(false);
    only.value = undefined;
    expect(isShown({ path: "src/b.py" })).toBe(true);
  });
});

describe("the sides of a turn", () => {
  const ends = [400, 300, 200];

  test("are the recorded ends around it", () => {
    expect(chooseSides(ends, { from: 210, to: 290 })).toEqual({ base: "turn:200", target: "turn:300" });
  });

  test("of the last turn end with the files as they are now", () => {
    expect(chooseSides(ends, { from: 310, to: 390 })).toEqual({ base: "turn:300" });
    expect(chooseSides(ends, { from: 410, to: 420 })).toEqual({ base: "turn:400" });
  });

  test("are unknown where the end of the turn before is not kept", () => {
    expect(chooseSides(ends, { from: 110, to: 190 })).toEqual({});
    expect(chooseSides([], { from: 110, to: 190 })).toEqual({});
  });
});
