import { describe, expect, test } from "vitest";
import {
  ALONE,
  findNeighbour,
  computeCellBoxes,
  chooseSession,
  COUNTS,
  type Layout,
  dropDeadSessions,
  parseLayout,
  putSessionInCell,
  resizeLayout,
  removeCell,
} from "./layout.ts";

const grid = (count: Layout["count"], text: string, front = text[0]): Layout => ({
  count,
  cells: [...text.padEnd(count, ".")].map((id) => (id === "." ? undefined : id)),
  front,
  zoomed: false,
});
const shape = ({ cells }: Layout) => cells.map((id) => id ?? ".").join("");

test.each(COUNTS.flatMap((count) => [false, true].map((tall) => [count, tall] as const)))(
  "%i cells cover the whole room once (tall: %s)",
  (count, tall) => {
    const all = computeCellBoxes(count, tall);
    const area = all.reduce((sum, { w, h }) => sum + w * h, 0);
    const width = Math.max(...all.map(({ x, w }) => x + w));
    const height = Math.max(...all.map(({ y, h }) => y + h));
    expect(all).toHaveLength(count);
    expect(area).toBe(width * height);
    if (count !== 1 && count !== 4 && count !== 9) expect(width > height).toBe(!tall && count !== 3);
  },
);

describe("how many", () => {
  test("new cells are filled with others, and then stay empty", () => {
    expect(shape(resizeLayout(grid(1, "a"), 4, ["a", "b", "c"]))).toBe("abc.");
  });

  test("with fewer cells the one in front stays", () => {
    const four = grid(4, "abcd", "d");
    expect(shape(resizeLayout(four, 2, []))).toBe("ad");
    expect(shape(resizeLayout(four, 1, []))).toBe("d");
    expect(resizeLayout({ ...four, zoomed: true }, 3, []).zoomed).toBe(false);
  });
});

describe("a session comes to the front", () => {
  test.each([
    ["where it stands", grid(2, "ab"), "b", "ab"],
    ["in an empty cell", grid(3, "a.b"), "c", "acb"],
    ["in place of the one before", grid(2, "ab", "b"), "c", "ac"],
  ])("%s", (_, before, id, after) => {
    const now = chooseSession(before, id);
    expect([shape(now), now.front]).toEqual([after, id]);
  });

  test("where it is dropped, and what stood there moves", () => {
    expect(shape(putSessionInCell(grid(2, "ab"), "b", 0))).toBe("ba");
    expect(shape(putSessionInCell(grid(2, "ab"), "c", 1))).toBe("ac");
    expect(shape(putSessionInCell(grid(3, "a.b"), "b", 1))).toBe("ab.");
  });
});

describe("a cell is closed", () => {
  test.each([
    [grid(2, "ab"), 0, "b", "b"],
    [grid(4, "abcd", "b"), 1, "acd", "c"],
    [grid(9, "abcdefghi", "i"), 8, "abcdefgh.", "h"],
    [grid(6, "ab....", "a"), 4, "ab", "a"],
    [grid(2, "a."), 0, "a", "a"],
  ])("%o at %i", (before, at, cells, front) => {
    const now = removeCell(before, at);
    expect([shape(now), now.front]).toEqual([cells, front]);
  });
});

test.each([
  ["b", "left", "a"],
  ["a", "right", "b"],
  ["a", "down", undefined],
  ["c", "up", "b"],
  ["c", "left", "a"],
] as const)("of three, %s has at its %s %s", (front, way, other) => {
  expect(findNeighbour(grid(3, "abc", front), false, way)).toBe(other);
});

test("empty cells are passed over", () => {
  expect(findNeighbour(grid(6, "a.b..."), false, "right")).toBe("b");
});

test("a session that is gone leaves an empty cell", () => {
  expect(shape(dropDeadSessions(grid(2, "ab"), (id) => id === "b"))).toBe(".b");
});

describe("stored", () => {
  test("and read again", () => {
    const six = { ...grid(6, "ab.c.."), zoomed: true };
    const read = parseLayout(JSON.stringify(six));
    expect([read.count, shape(read), read.front, read.zoomed]).toEqual([6, "abc...", "a", true]);
  });

  test.each([null, "", "3", "{}", '{"count":5,"cells":[]}', '{"count":2,"cells":7}', "[1"])("%s", (text) => {
    expect(parseLayout(text)).toEqual(ALONE);
  });

  test("with what is no session", () => {
    expect(shape(parseLayout('{"count":3,"cells":["a",7,"a",null,"b"]}'))).toBe("ab.");
  });
});
