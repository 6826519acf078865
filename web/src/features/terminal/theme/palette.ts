/** The colours of a terminal as a record, checked wherever it comes from. */
import type { ITheme } from "@xterm/xterm";

export const ANSI = [
  "black",
  "red",
  "green",
  "yellow",
  "blue",
  "magenta",
  "cyan",
  "white",
  "brightBlack",
  "brightRed",
  "brightGreen",
  "brightYellow",
  "brightBlue",
  "brightMagenta",
  "brightCyan",
  "brightWhite",
] as const;

export type AnsiName = (typeof ANSI)[number];

/** Each colour is `#rrggbb`, that of a selection with or without `aa`. */
export interface Palette {
  id: string;
  name: string;
  background: string;
  foreground: string;
  cursor: string;
  selection: string;
  ansi: readonly string[];
}

export const NAME_MOST = 60;

const COLOUR = /^#[0-9a-f]{6}$/;
const TINT = /^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/;

const isText = (value: unknown, pattern: RegExp): value is string =>
  typeof value === "string" && pattern.test(value);

/** What a browser kept may be of an older page or edited: undefined where it is no palette. */
export function paletteOf(value: unknown): Palette | undefined {
  const { id, name, background, foreground, cursor, selection, ansi } = (value ?? {}) as Partial<Palette>;
  const plain = [background, foreground, cursor].every((each) => isText(each, COLOUR));
  const sixteen =
    Array.isArray(ansi) && ansi.length === ANSI.length && ansi.every((each) => isText(each, COLOUR));
  const named = isText(id, /^[a-z0-9-]{1,40}$/) && typeof name === "string" && name.length <= NAME_MOST;
  if (!plain || !sixteen || !named || !isText(selection, TINT)) return undefined;
  return { id, name, background, foreground, cursor, selection, ansi } as Palette;
}

const channel = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

/** Relative luminance (WCAG 2.2), 0 to 1. */
export function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    channel(Number.parseInt(colour.slice(at, at + 2), 16) / 255),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Below this a white text is the better one. */
export const isDarkColour = (colour: string): boolean => luminance(colour) < 0.18;

export function themeOfPalette(palette: Palette): ITheme {
  const { background, foreground, cursor, selection } = palette;
  const slider = foreground;
  return {
    background,
    foreground,
    cursor,
    cursorAccent: background,
    selectionBackground: selection,
    selectionInactiveBackground: selection,
    overviewRulerBorder: "#00000000",
    scrollbarSliderBackground: `${slider}33`,
    scrollbarSliderHoverBackground: `${slider}66`,
    scrollbarSliderActiveBackground: `${slider}88`,
    ...Object.fromEntries(ANSI.map((name, at) => [name, palette.ansi[at]])),
  };
}
