/** Reads palettes of other programs: iTerm2's `.itermcolors`, VS Code's themes and settings. */
import { truncateText } from "../../../lib/format.ts";
import { parseJsonc } from "../../../lib/jsonc.ts";
import { ANSI, isDarkColour, NAME_MOST, type Palette } from "./palette.ts";
import { plistColours } from "./plist.ts";
import { themeOf } from "./themes.ts";

/** Bytes of a file; the largest themes of editors have a quarter of it. */
export const FILE_MOST = 512 * 1024;

type Colours = ReadonlyMap<string, string>;

/** Where the two programs keep what; the first that is there holds. */
const NAMES = {
  background: ["Background Color", "terminal.background", "editor.background"],
  foreground: ["Foreground Color", "terminal.foreground", "editor.foreground"],
  cursor: ["Cursor Color", "terminalCursor.foreground", "editorCursor.foreground"],
  selection: ["Selection Color", "terminal.selectionBackground", "editor.selectionBackground"],
} as const;

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const first = (colours: Colours, names: readonly string[]): string | undefined =>
  names.map((name) => colours.get(name)).find((colour) => colour !== undefined);

/** `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa` with six digits or eight; undefined: none. */
function hexOf(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value))
    return undefined;
  const digits = value.slice(1).toLowerCase();
  const full = digits.length < 6 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return `#${full}`;
}

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

function jsonColours(text: string): Colours {
  let whole: Fields;
  try {
    whole = fieldsOf(parseJsonc(text));
  } catch {
    throw new Error("Choose an iTerm2 colour file or a VS Code JSON theme.");
  }
  const colours = fieldsOf(whole["colors"] ?? whole["workbench.colorCustomizations"]);
  return new Map(
    Object.entries(colours).flatMap(([name, value]): [string, string][] => {
      const hex = hexOf(value);
      return hex === undefined ? [] : [[name, hex]];
    }),
  );
}

function need(colours: Colours, what: "background" | "foreground"): string {
  const found = first(colours, NAMES[what]);
  if (found === undefined) throw new Error(`The file has no ${what} colour for a terminal.`);
  return found.slice(0, 7);
}

/** Names of other scripts leave little of themselves, so what is left out is told by a number. */
function idOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  if (!/[^\0-\x7f]/.test(name)) return `own-${plain}`.slice(0, 40);
  const code = [...name].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) >>> 0, 7);
  return `own-${plain.slice(0, 28)}-${code.toString(36)}`;
}

/**
 * @param file its name, from which the palette's is made.
 * @throws Error saying in a sentence why it is none.
 */
export function readPalette(file: string, text: string): Palette {
  if (text.length > FILE_MOST) throw new Error(`Choose a theme file of at most ${FILE_MOST / 1024} KiB.`);
  const colours = /^\s*(?:\uFEFF)?<(?:\?xml|!DOCTYPE|plist)/i.test(text)
    ? plistColours(text)
    : jsonColours(text);
  const background = need(colours, "background");
  const foreground = need(colours, "foreground");
  // What a file leaves out, as most editors' themes do, is ours for such a ground.
  const ours = themeOf(undefined, isDarkColour(background));
  const name = truncateText(file.replace(/\.[^.]*$/, ""), NAME_MOST) || "Imported";
  return {
    id: idOf(name),
    name,
    background,
    foreground,
    cursor: (first(colours, NAMES.cursor) ?? foreground).slice(0, 7),
    selection: first(colours, NAMES.selection) ?? `${foreground}44`,
    ansi: ANSI.map((each, at) => {
      const names = [`Ansi ${at} Color`, `terminal.ansi${capital(each)}`];
      return (first(colours, names) ?? String(ours[each])).slice(0, 7);
    }),
  };
}
