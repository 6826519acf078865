import { describe, expect, test } from "vitest";
import { CELL_LEAST, fitGrid, isCramped, scaleFor, SizeClaim, viewportOf } from "./sizing.ts";

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

describe("scaleFor", () => {
  test("the tighter side decides, nothing grows, nothing gets unreadable", () => {
    expect(scaleFor({ cols: 100, rows: 10 }, { width: 640, height: 160 }, CELL)).toBeCloseTo(0.8);
    expect(scaleFor({ cols: 10, rows: 20 }, { width: 640, height: 240 }, CELL)).toBeCloseTo(0.75);
    expect(scaleFor({ cols: 10, rows: 10 }, { width: 640, height: 640 }, CELL)).toBe(1);
    expect(scaleFor({ cols: 500, rows: 200 }, { width: 300, height: 300 }, CELL)).toBe(0.55);
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
