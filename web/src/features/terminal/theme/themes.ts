/** Terminal colours, one palette a theme; every foreground has at least 4.5:1 on its ground. */
import type { ISearchDecorationOptions } from "@xterm/addon-search";
import type { ITheme } from "@xterm/xterm";
import { isDarkColour, type Palette, themeOfPalette } from "./palette.ts";

const DARK: ITheme = {
  background: "#0a0d10",
  foreground: "#dbe3ea",
  cursor: "#4fd6b0",
  cursorAccent: "#0a0d10",
  selectionBackground: "#2f5f8a99",
  selectionInactiveBackground: "#2f5f8a55",
  overviewRulerBorder: "#00000000",
  scrollbarSliderBackground: "#9aa7b433",
  scrollbarSliderHoverBackground: "#9aa7b466",
  scrollbarSliderActiveBackground: "#9aa7b488",
  black: "#262e37",
  red: "#ff7a76",
  green: "#63d68f",
  yellow: "#efb95c",
  blue: "#6fb0ff",
  magenta: "#c9a0ff",
  cyan: "#56d4dd",
  white: "#cfd8e0",
  brightBlack: "#7d8a97",
  brightRed: "#ff9d99",
  brightGreen: "#8ae8ad",
  brightYellow: "#ffd27f",
  brightBlue: "#9ac8ff",
  brightMagenta: "#dcc0ff",
  brightCyan: "#88e8ee",
  brightWhite: "#ffffff",
};

const LIGHT: ITheme = {
  background: "#fdfdfc",
  foreground: "#1d2630",
  cursor: "#0b7d62",
  cursorAccent: "#fdfdfc",
  selectionBackground: "#9cc9f088",
  selectionInactiveBackground: "#9cc9f055",
  overviewRulerBorder: "#00000000",
  scrollbarSliderBackground: "#56647233",
  scrollbarSliderHoverBackground: "#56647266",
  scrollbarSliderActiveBackground: "#56647288",
  black: "#1d2630",
  red: "#bf2c2c",
  green: "#1b7a3d",
  yellow: "#8a5a00",
  blue: "#1f5fc4",
  magenta: "#8435b8",
  cyan: "#0d7580",
  white: "#5b6875",
  brightBlack: "#6a7683",
  brightRed: "#d43a3a",
  brightGreen: "#22863f",
  brightYellow: "#936200",
  brightBlue: "#2a6fe0",
  brightMagenta: "#9a45d1",
  brightCyan: "#0f7f8b",
  brightWhite: "#1d2630",
};

/** The current match has the strongest contrast of the screen; the others are a tint of it. */
const CURRENT = {
  dark: { ground: "#ffc04d", text: "#1a1204" },
  light: { ground: "#a34c00", text: "#ffffff" },
};
const OTHERS = {
  dark: { matchBackground: "#5a471a", matchOverviewRuler: "#9a7428" },
  light: { matchBackground: "#f6e2a4", matchOverviewRuler: "#d9b659" },
};

const nameOf = (dark: boolean) => (dark ? "dark" : "light");

/** Whether a terminal's ground is dark: its own palette's, or else the page's. */
export const isDarkGround = (palette: Palette | undefined, page: boolean): boolean =>
  palette ? isDarkColour(palette.background) : page;

/**
 * @param palette its own; without, it goes with the page.
 * @param dark whether its ground is.
 * @param searching while text is looked for, the current match is the selection, which is drawn over
 *   the match's own decoration: it takes its colours, also without the focus.
 */
export function themeOf(palette: Palette | undefined, dark: boolean, searching = false): ITheme {
  const theme = palette ? themeOfPalette(palette) : dark ? DARK : LIGHT;
  if (!searching) return theme;
  const { ground, text } = CURRENT[nameOf(dark)];
  return {
    ...theme,
    selectionBackground: ground,
    selectionInactiveBackground: ground,
    selectionForeground: text,
  };
}

export function matchesOf(dark: boolean): ISearchDecorationOptions {
  const { ground } = CURRENT[nameOf(dark)];
  return {
    ...OTHERS[nameOf(dark)],
    activeMatchBackground: ground,
    activeMatchColorOverviewRuler: dark ? "#ffffff" : "#1d2630",
  };
}

/**
 * Programs choose colours for a dark ground; on a light one they are darkened until readable.
 * The terminal rounds the colours that it finds: with 4.5 some stay a little below.
 */
export const contrastOf = (dark: boolean): number => (dark ? 1 : 4.6);

const FONTS =
  'ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';

/** @param family a person's choice, before what every system has. */
export const fontsOf = (family: string): string => (family === "" ? FONTS : `"${family}", ${FONTS}`);
