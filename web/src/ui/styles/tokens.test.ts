/** Colours and sizes of type have one home; what is written elsewhere drifts from it. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const SOURCE = new URL("../../", import.meta.url).pathname;
const SHEETS = globSync("**/*.css", { cwd: SOURCE }).filter((name) => !/tokens.css$|\/faces\//.test(name));

/** A field of less than 16 pixels makes phones zoom in; one that is on no screen has no scale. */
const ALLOWED = /font-size: 16px/;

const lines = (name: string): string[] => readFileSync(`${SOURCE}${name}`, "utf-8").split("\n");

const found = (pattern: RegExp): string[] =>
  SHEETS.flatMap((name) =>
    lines(name)
      .filter((line) => pattern.test(line) && !ALLOWED.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );

describe("style sheets", () => {
  test("take their colours from the tokens", () => {
    expect(SHEETS.length).toBeGreaterThan(20);
    expect(found(/#[0-9a-f]{3,8}\b(?=[;\s,)])|\brgba?\(|\bhsla?\(/i)).toEqual([]);
  });

  test("take the size of type from the scale", () => {
    expect(found(/font(?:-size)?:(?: \d+)? [\d.]+(?:px|rem)/)).toEqual([]);
  });

  test("take their distances from the scale, where that was done", () => {
    const scaled = /^(?:ui\/styles|features\/(?:grid|terminal|touch|gesture))\//;
    const distance = /: (?:padding|margin|gap|row-gap|column-gap)[a-z-]*:.*(?<![\w.-])(?:[2-9]|\d{2,})px/;
    expect(found(distance).filter((line) => scaled.test(line))).toEqual([]);
  });

  test("move within 150 milliseconds, but for what goes round or waits first", () => {
    const tokens = readFileSync(`${SOURCE}ui/styles/tokens.css`, "utf-8");
    const times = [...tokens.matchAll(/--(?:quick|slow): (\d+)ms/g)].map((match) => Number(match[1]));
    expect(Math.max(...times)).toBeLessThan(150);
    const still = found(/(?:animation|transition):.*\d(?:\.\d+)?m?s\b/).filter(
      (line) => !/infinite|var\(--slow\) 0\.7s/.test(line),
    );
    expect(still).toEqual([]);
  });
});
