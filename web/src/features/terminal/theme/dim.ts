/**
 * Text that programs mark as dim, at the contrast of all other text.
 *
 * The emulator asks half of the least contrast for dim text. So on a light ground dim is taken for a colour
 * of its own, halfway to the ground, which the emulator then darkens as it does every other.
 */
import type { ITheme, Terminal } from "@xterm/xterm";
import { ANSI, isDarkColour } from "./palette.ts";

/** A cell's looks as the emulator keeps them: 24 bits of a colour, two of its kind, and flags. */
interface Attributes {
  fg: number;
  bg: number;
}

interface InputHandler {
  _curAttrData: Attributes;
  charAttributes(parameters: unknown): boolean;
}

const DIM = 0x8000000;
const INVERSE = 0x4000000;
const KIND = 0x3000000;
const [INDEXED_16, INDEXED, RGB] = [0x1000000, 0x2000000, 0x3000000];
const COLOUR = KIND | 0xffffff;

/** The first of the 216 colours of a cube, and of the greys behind them. */
const [CUBE, GREYS] = [16, 232];

const rgbOf = (colour: string | undefined): number => Number.parseInt((colour ?? "#000000").slice(1, 7), 16);

function indexed(index: number, theme: ITheme): number {
  const name = ANSI[index];
  if (name) return rgbOf(theme[name]);
  if (index >= GREYS) return (8 + 10 * (index - GREYS)) * 0x010101;
  const place = index - CUBE;
  const step = (part: number): number => (part === 0 ? 0 : 55 + 40 * part);
  return (step(Math.floor(place / 36)) << 16) | (step(Math.floor(place / 6) % 6) << 8) | step(place % 6);
}

function resolve(looks: number, usual: string | undefined, theme: ITheme): number {
  const kind = looks & KIND;
  if (kind === RGB) return looks & 0xffffff;
  return kind === INDEXED || kind === INDEXED_16 ? indexed(looks & 0xff, theme) : rgbOf(usual);
}

/** The colour in the middle of two. */
export const blend = (one: number, other: number): number => ((one ^ other) & 0xfefefe) / 2 + (one & other);

/** The looks of dim text without the mark. */
export function withoutDim({ fg, bg }: Attributes, theme: ITheme): Attributes {
  const rest = { fg, bg: bg & ~DIM };
  if (fg & INVERSE) return rest;
  const colour = blend(resolve(fg, theme.foreground, theme), resolve(bg, theme.background, theme));
  return { ...rest, fg: (fg & ~COLOUR) | RGB | colour };
}

/** Has an effect while the terminal's ground is light. */
export function showDimReadable(terminal: Terminal): void {
  // The emulator has no door for this.
  const input = (terminal as unknown as { _core: { _inputHandler: InputHandler } })._core._inputHandler;
  const apply = input.charAttributes.bind(input);
  /** The colour that was put in place of another. */
  let changed: { fg: number; was: number } | undefined;
  input.charAttributes = (parameters) => {
    const before = input._curAttrData;
    if (changed && before.fg === changed.fg) {
      before.fg = changed.was;
      before.bg |= DIM;
    }
    changed = undefined;
    const done = apply(parameters);
    const now = input._curAttrData;
    const theme = terminal.options.theme ?? {};
    if (!(now.bg & DIM) || isDarkColour(theme.background ?? "#000000")) return done;
    const was = now.fg;
    Object.assign(now, withoutDim(now, theme));
    changed = { fg: now.fg, was };
    return done;
  };
}
