import { describe, expect, test } from "vitest";
import { parseJsonc } from "../../../lib/jsonc.ts";
import { KEPT_MOST, readPalettes } from "./storedpalettes.ts";
import { isDarkColour, luminance, type Palette, paletteOf, themeOfPalette } from "./palette.ts";
import { FILE_MOST, readPalette } from "./importpalette.ts";
import { themeOf } from "./themes.ts";

const part = (name: string, value: string): string => `<key>${name} Component</key><real>${value}</real>`;
const entry = (name: string, red: string, green: string, blue: string): string =>
  `<key>${name}</key>\n<dict><key>Alpha Component</key><real>1</real>` +
  `<key>Color Space</key><string>sRGB</string>${part("Red", red)}${part("Green", green)}${part("Blue", blue)}</dict>`;
const plist = (...entries: string[]): string =>
  `<?xml version="1.0"?><!DOCTYPE plist><plist version="1.0"><dict>${entries.join("\n")}</dict></plist>`;

const GROUNDS = [entry("Background Color", "0", "0.2", "0.4"), entry("Foreground Color", "1", "1", "1")];

const made = (part_: Partial<Palette> = {}): Palette => ({
  ...readPalette("made.itermcolors", plist(...GROUNDS)),
  ...part_,
});

describe("palettes of iTerm2", () => {
  test("are read by their keys, parts in any range of 0 to 1", () => {
    const read = readPalette(
      "My Own.itermcolors",
      plist(...GROUNDS, entry("Ansi 1 Color", "1.7", "-1", "0.5"), entry("Cursor Color", "0", "1", "0")),
    );
    expect(read).toMatchObject({
      id: "own-my-own",
      name: "My Own",
      background: "#003366",
      cursor: "#00ff00",
    });
    expect(read.ansi[1]).toBe("#ff0080");
    expect(read.ansi[2]).toBe(themeOf(undefined, true).green);
  });

  test.each([
    ["no ground", plist(entry("Foreground Color", "1", "1", "1")), /no background colour/],
    ["no number", plist(entry("Background Color", "x", "0", "0"), GROUNDS[1] ?? ""), /no background colour/],
    ["nothing", "<?xml", /no background colour/],
    ["too much", `<?xml${" ".repeat(FILE_MOST)}`, /at most/],
  ])("%s", (_, text, why) => {
    expect(() => readPalette("x", text)).toThrow(why);
  });

  test("tags without end are gone through once", () => {
    expect(() => readPalette("x", `<?xml ${"<dict><key>".repeat(40_000)}`)).toThrow(/no background/);
  });
});

describe("palettes of VS Code", () => {
  test("a theme: comments, commas, the terminal's colours before the editor's", () => {
    const read = readPalette(
      "night.json",
      `{ // mine
        "name": "a // b",
        "colors": { "editor.background": "#fff", "terminal.background": "#102030", /* 1 */
          "editor.foreground": "#ABCDEF", "terminal.ansiBrightBlue": "#11223344",
          "terminal.selectionBackground": "#10203040", "terminal.ansiRed": 4, }, }`,
    );
    expect(read).toMatchObject({ background: "#102030", foreground: "#abcdef", selection: "#10203040" });
    expect(read.ansi[12]).toBe("#112233");
    expect(read.ansi[1]).toBe(themeOf(undefined, true).red);
  });

  test("names of any script have an id of their own", () => {
    const text = `{"terminal.background": "#fafafa", "terminal.foreground": "#222222"}`;
    const colours = `{"colors": ${text}}`;
    const ids = ["夜.json", "昼.json", "Nuit é.json", "Nuit è.json"].map(
      (file) => readPalette(file, colours).id,
    );
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]{1,40}$/);
    expect(readPalette("Night Sky.json", colours).id).toBe("own-night-sky");
  });

  test("settings; what is missing goes with the ground", () => {
    const text = `{"workbench.colorCustomizations": {"terminal.background": "#fafafa", "terminal.foreground": "#222222"}}`;
    const read = readPalette("settings.json", text);
    expect(read.ansi[4]).toBe(themeOf(undefined, false).blue);
  });

  test.each([
    ["[]"],
    ["null"],
    ["{}"],
    ["7"],
    ['{"colors": "#fff"}'],
    ['{"colors": {"terminal.background": "red"}}'],
  ])("%s is none", (text) => {
    expect(() => readPalette("x.json", text)).toThrow(/no background colour/);
  });

  test("what is no JSON says so", () => {
    expect(() => readPalette("x.json", "{")).toThrow(/Choose an iTerm2 colour file/);
  });
});

describe("what a browser keeps", () => {
  test("is checked, and the oldest goes at the bound", () => {
    const many = Array.from({ length: KEPT_MOST + 3 }, (_, at) => made({ id: `own-${at}` }));
    expect(readPalettes(JSON.stringify(many)).map(({ id }) => id)[0]).toBe("own-3");
    expect(readPalettes(JSON.stringify([{ ...made(), background: "red" }, 1, null]))).toEqual([]);
    expect(readPalettes("{")).toEqual([]);
    expect(paletteOf({ ...made(), ansi: ["#000000"] })).toBeUndefined();
    expect(paletteOf(made())).toEqual(made());
  });

  test("becomes a terminal's theme", () => {
    expect(themeOfPalette(made())).toMatchObject({ background: "#003366", brightWhite: made().ansi[15] });
    expect(themeOf(made(), true, true).selectionForeground).toBeDefined();
  });

  test("tells dark from light", () => {
    expect(luminance("#ffffff")).toBeCloseTo(1);
    expect([isDarkColour("#fdf6e3"), isDarkColour("#002b36")]).toEqual([false, true]);
  });
});

test("commas and comments within strings stay", () => {
  expect(parseJsonc('{"a": ",}", "b": "/* // */", "c": [1,],}')).toEqual({ a: ",}", b: "/* // */", c: [1] });
});
