import { describe, expect, test } from "vitest";
import {
  CELL_LEAST,
  fitGrid,
  fontFor,
  isCramped,
  LEAST_FONT,
  rowsIn,
  SizeClaim,
  viewportOf,
} from "./sizing.ts";

const CELL = { width: 8, height: 16 };

describe("fitGrid", () => {
  test("whole cells only", () => {
    expect(fitGrid({ width: 807, height: 495 }, CELL)).toEqual({ cols: 100, rows: 30 });
  });

  test("stays within what the service takes", () => {
    expect(fitGrid({ width: 1e6, height: 1e6 }, CELL)).toEqual({ cols: 500, rows: 200 });
    expect(fitGrid({ width: 9, height: 9 }, CELL)).toEqual({ cols: 20, rows: 4 });
  });

  test("a hidden window has no size", () => {
    expect(fitGrid({ width: 0, height: 100 }, CELL)).toBeUndefined();
    expect(fitGrid({ width: 100, height: 100 }, { width: 0, height: 0 })).toBeUndefined();
  });
});

describe("the font of a foreign grid", () => {
  const grid = { cols: 100, rows: 20 };

  test.each([
    ["fits both ways", { width: 720, height: 320 }, false, 18],
    ["fits its height", { width: 2000, height: 240 }, false, 15],
    ["shows its last rows", { width: 720, height: 90 }, true, 18],
    ["is never larger than usual", { width: 5000, height: 5000 }, false, 20],
    ["can always be read", { width: 200, height: 100 }, false, LEAST_FONT],
  ])("%s", (_, area, cropped, wanted) => {
    expect(fontFor(grid, area, CELL, 20, cropped)).toBe(wanted);
  });

  test("is not enlarged for somebody who reads smaller letters", () => {
    expect(fontFor(grid, { width: 100, height: 100 }, CELL, 8, true)).toBe(8);
  });

  test("leaves room for at least one row, and at most all", () => {
    const rows = (height: number) => rowsIn(grid, { width: 100, height }, 16);
    expect([rows(5), rows(100), rows(1000)]).toEqual([1, 6, 20]);
  });
});

describe("viewportOf", () => {
  test.each([
    [{ width: 390, height: 844 }, true, "mobile"],
    [{ width: 844, height: 390 }, true, "mobile"],
    [{ width: 820, height: 1180 }, true, "tablet"],
    [{ width: 390, height: 844 }, false, "desktop"],
  ] as const)("%o, coarse %s: %s", (screen, coarse, wanted) => {
    expect(viewportOf(screen, coarse)).toBe(wanted);
  });
});

describe("SizeClaim", () => {
  const mine = { cols: 100, rows: 30 };
  const theirs = { cols: 40, rows: 20 };

  test("claims a size of its own that differs from what holds", () => {
    const claim = new SizeClaim();
    claim.answered(theirs);
    expect(claim.want(mine)).toBe(true);
    expect(claim.frame("desktop")).toEqual({ t: "z", c: 100, r: 30, v: "desktop" });
    claim.answered(mine);
    expect(claim.foreign).toBe(false);
  });

  test("is silent where the size already holds", () => {
    const claim = new SizeClaim();
    claim.answered(mine);
    expect(claim.want(mine)).toBe(false);
    expect(claim.due).toBe(false);
  });

  test("does not fight: a lost size is due again, but not while unanswered", () => {
    const claim = new SizeClaim();
    claim.want(mine);
    claim.frame("desktop");
    claim.answered(mine);
    claim.answered(theirs);
    expect(claim.want(mine)).toBe(false);
    expect(claim.due).toBe(true);
    claim.frame("desktop");
    expect(claim.due).toBe(false);
    claim.answered(theirs);
    expect(claim.due).toBe(true);
  });

  test("a forced claim says so", () => {
    const claim = new SizeClaim();
    expect(claim.frame("mobile", true)).toBeUndefined();
    claim.want(mine);
    expect(claim.frame("mobile", true)).toEqual({ t: "z", c: 100, r: 30, v: "mobile", f: true });
  });
});

test.each([
  [0, 0, false],
  [-1, 0, true],
  [0, -1, true],
])("a cell with %i columns and %i rows more than the least", (cols, rows, cramped) => {
  expect(isCramped({ cols: CELL_LEAST.cols + cols, rows: CELL_LEAST.rows + rows })).toBe(cramped);
});
