import { describe, expect, test } from "vitest";
import {
  DRAWN_MAX,
  drawnOf,
  describePdfError,
  pageAt,
  pageOf,
  percentOf,
  PIXELS_MAX,
  scaleOf,
  sharpness,
  SIDE_MAX,
  sizeOf,
  stepped,
} from "./layout.ts";

const A4 = { width: 595, height: 842 };

describe("a page's size", () => {
  test("is what the document says, within what can be shown", () => {
    expect(sizeOf(A4)).toEqual(A4);
    expect(sizeOf({ width: 1e12, height: 0 })).toEqual({ width: 14_400, height: 10 });
    expect(sizeOf({ width: Number.NaN, height: -5 })).toEqual({ width: 10, height: 10 });
  });

  test("fills the width, but for what is tiny", () => {
    expect(A4.width * scaleOf(undefined, A4.width, 800)).toBeCloseTo(800);
    expect(percentOf(scaleOf(undefined, 20, 800))).toBe(250);
    expect(scaleOf(undefined, A4.width, 0)).toBeGreaterThan(0);
    expect(percentOf(scaleOf(150, A4.width, 800))).toBe(150);
  });
});

describe("the zoom", () => {
  test("goes by steps from where it is, and ends", () => {
    expect(stepped(93, 1)).toBe(100);
    expect(stepped(93, -1)).toBe(75);
    expect(stepped(100, 1)).toBe(125);
    expect(stepped(400, 1)).toBe(400);
    expect(stepped(10, -1)).toBe(10);
    expect(stepped(6, -1)).toBe(6);
  });
});

describe("how much is drawn", () => {
  test("a page has as many pixels as the screen, up to a bound of all and of a side", () => {
    expect(sharpness(A4, 1, 2)).toBe(2);
    for (const [size, scale] of [
      [{ width: 14_400, height: 14_400 }, 5],
      [{ width: 10, height: 14_400 }, 5],
      [A4, 5],
    ] as const) {
      const sharp = sharpness(size, scale, 3);
      const [width, height] = [size.width * scale * sharp, size.height * scale * sharp];
      expect(width * height).toBeLessThanOrEqual(PIXELS_MAX * 1.0001);
      expect(Math.max(width, height)).toBeLessThanOrEqual(SIDE_MAX * 1.0001);
    }
  });

  test("of many small pages in view, those nearest to where one is", () => {
    const near = Array.from({ length: 200 }, (_, at) => at + 1);
    expect(drawnOf(near, 100)).toEqual([100, 99, 101, 98, 102, 97]);
    expect(drawnOf(near, 1)).toHaveLength(DRAWN_MAX);
    expect(drawnOf([], 1)).toEqual([]);
  });
});

describe("where one is", () => {
  test("the last page that begins above", () => {
    const top = (page: number): number => (page - 1) * 100;
    expect([0, 99, 100, 950, 5000].map((height) => pageAt(10, top, height))).toEqual([1, 1, 2, 10, 10]);
    expect(pageAt(0, top, 50)).toBe(1);
  });

  test("a number that is typed is a page, the nearest one where there is none", () => {
    expect(["3", " 7 ", "0", "99", "x", "", "1.5", "-2"].map((text) => pageOf(text, 9))).toEqual([
      3,
      7,
      1,
      9,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test("what is wrong with a document is said in words, other faults keep theirs", () => {
  const thrown = (name: string): Error => Object.assign(new Error("Invalid PDF structure."), { name });
  expect(describePdfError(thrown("InvalidPDFException"))).toContain("damaged");
  expect(describePdfError(thrown("PasswordException"))).toContain("password");
  expect(describePdfError(thrown("Error"))).toBeUndefined();
  expect(describePdfError("text")).toBeUndefined();
});
