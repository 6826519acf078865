import { describe, expect, test } from "vitest";
import { bytesOf, controlOf, LOOSE, modified, press, release, type Sticky } from "./modifiers.ts";
import { getDragOffset, isHorizontal, stepOf } from "./scroll.ts";
import { LineCounter, slowDown } from "./scroll.ts";

const held = (ctrl: Sticky["ctrl"], alt: Sticky["alt"] = "off"): Sticky => ({ ctrl, alt });

describe("sticky modifiers", () => {
  test("one tap arms, two lock, three let go", () => {
    expect(press("off")).toBe("once");
    expect(press("once")).toBe("locked");
    expect(press("locked")).toBe("off");
  });

  test("a sent key lets go of what is not locked", () => {
    expect(release(held("once", "locked"))).toEqual(held("off", "locked"));
  });

  test.each([
    ["c", "\x03"],
    ["C", "\x03"],
    [" ", "\0"],
    ["[", "\x1b"],
    ["\\", "\x1c"],
    ["?", "\x7f"],
    ["é", "é"],
    ["ß", "ß"],
  ])("control of %s", (char, wanted) => {
    expect(controlOf(char)).toBe(wanted);
  });

  test("they hold for the first character of what was typed", () => {
    expect(modified("cd", held("once"))).toBe("\x03d");
    expect(modified("x", held("off", "once"))).toBe("\x1bx");
    expect(modified("x", held("locked", "once"))).toBe("\x1b\x18");
    expect(modified("😀x", held("once"))).toBe("😀x");
    expect(modified("", held("once"))).toBe("");
  });
});

describe("keys of the bar", () => {
  test.each([
    ["Up", false, LOOSE, "\x1b[A"],
    ["Up", true, LOOSE, "\x1bOA"],
    ["Left", true, held("once"), "\x1b[1;5D"],
    ["Right", false, held("once", "once"), "\x1b[1;7C"],
    ["PageUp", false, LOOSE, "\x1b[5~"],
    ["PageDown", false, held("off", "once"), "\x1b[6;3~"],
    ["Escape", false, LOOSE, "\x1b"],
    ["Tab", false, LOOSE, "\t"],
    ["BackTab", false, LOOSE, "\x1b[Z"],
    ["Enter", false, held("off", "once"), "\x1b\r"],
    ["Interrupt", false, LOOSE, "\x03"],
  ] as const)("%s, application cursor %s", (key, application, sticky, wanted) => {
    expect(bytesOf(key, application, sticky)).toBe(wanted);
  });
});

describe("scrolling", () => {
  test("the rest of a line is kept for the next move", () => {
    const counter = new LineCounter();
    expect([10, 10, 10, -30].map((pixels) => counter.lines(pixels, 16))).toEqual([0, 1, 0, -1]);
    expect(counter.lines(-16, 16)).toBe(-1);
  });

  test("a throw slows down whatever the frame rate", () => {
    expect(slowDown(slowDown(1, 8), 8)).toBeCloseTo(slowDown(1, 16));
    expect(slowDown(1, 1000)).toBeLessThan(0.03);
  });
});

describe("swiping aside", () => {
  test("a slanted finger scrolls", () => {
    expect(isHorizontal({ x: 30, y: 4 })).toBe(true);
    expect(isHorizontal({ x: 30, y: -22 })).toBe(false);
    expect(isHorizontal({ x: 2, y: 30 })).toBe(false);
  });

  test.each([
    [-120, 900, 1],
    [120, 900, -1],
    [-60, 100, 1],
    [-60, 900, 0],
    [40, 10, 0],
  ])("%d pixels in %d ms", (pixels, elapsed, step) => {
    expect(stepOf(pixels, elapsed)).toBe(step);
  });

  test("what is dragged stays in sight", () => {
    expect([getDragOffset(40), getDragOffset(-900), getDragOffset(900)]).toEqual([20, -80, 80]);
  });
});
