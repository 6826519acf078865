/**
 * Columns of a character as tmux counts them.
 *
 * Measured with tmux 3.3a: the tables of Unicode 11 hold, but for emoji that came later (two
 * columns) and for sequences joined by U+200D, which stay in the cell of their first character, unless
 * ASCII follows, which is never joined.
 * U+FE0F and skin tones do not change or join a cell there. Which emoji a tmux knows depends on its
 * system: the service asks it, and what it says comes before these tables.
 */
import type { IUnicodeHandling, IUnicodeVersionProvider } from "@xterm/xterm";
import type { GlyphRun } from "../link/frames.ts";

export const VERSION = "tmux";

const JOINER = 0x200d;
const JOINED = 1;
const LAST_ASCII = 0x7f;

/** Emoji assigned after Unicode 11, as far as nothing else is known. */
const LATER_WIDE: readonly (readonly [number, number])[] = [
  [0x1f6d5, 0x1f6d7],
  [0x1f6dc, 0x1f6df],
  [0x1f6fa, 0x1f6fc],
  [0x1f7e0, 0x1f7eb],
  [0x1f7f0, 0x1f7f0],
  [0x1f90c, 0x1f90f],
  [0x1f93f, 0x1f93f],
  [0x1f971, 0x1f972],
  [0x1f977, 0x1f97b],
  [0x1f9a3, 0x1f9af],
  [0x1f9ba, 0x1f9cf],
  [0x1fa70, 0x1faff],
];

type Width = 0 | 1 | 2;

/** No narrower character is in doubt: most of a stream is below. */
const LEAST_TOLD = 0x2600;

export function isLaterWide(codepoint: number): boolean {
  return LATER_WIDE.some(([from, to]) => codepoint >= from && codepoint <= to);
}

/** xterm's packing: bit 0 joins the cell before, bits 1-2 are the width, the rest is ours. */
function pack(state: number, width: number, join: boolean): number {
  return (state << 3) | (width << 1) | (join ? 1 : 0);
}

const widthIn = (properties: number): number => (properties >> 1) & 3;
const stateIn = (properties: number): number => properties >> 3;

export class TmuxWidths implements IUnicodeVersionProvider {
  readonly version = VERSION;
  private readonly countBase: (codepoint: number) => Width;
  private told: ReadonlyMap<number, Width> = new Map();

  /** @param countBase returns the columns of Unicode 11. */
  constructor(countBase: (codepoint: number) => Width) {
    this.countBase = countBase;
  }

  /** @param runs what the pane's tmux says. */
  tell(runs: readonly GlyphRun[]): void {
    const told = new Map<number, Width>();
    for (const [first, last, cells] of runs)
      for (let code = first; code <= last; code++) told.set(code, cells);
    this.told = told;
  }

  wcwidth(codepoint: number): Width {
    const told = codepoint < LEAST_TOLD ? undefined : this.told.get(codepoint);
    if (told !== undefined) return told;
    return isLaterWide(codepoint) ? 2 : this.countBase(codepoint);
  }

  charProperties(codepoint: number, preceding: number): number {
    const before = widthIn(preceding);
    const own = this.wcwidth(codepoint);
    const joins = before > 0 && (own === 0 || (stateIn(preceding) === JOINED && codepoint > LAST_ASCII));
    const state = codepoint === JOINER && before > 0 ? JOINED : 0;
    return pack(state, joins ? before : own, joins);
  }
}

/** @param countBase returns the columns of Unicode 11. */
export function registerWidths(
  unicode: IUnicodeHandling,
  countBase: (codepoint: number) => Width,
): TmuxWidths {
  const widths = new TmuxWidths(countBase);
  unicode.register(widths);
  unicode.activeVersion = VERSION;
  return widths;
}

/** Of each session what its tmux said last, for what is shown of it elsewhere. */
const said = new Map<string, readonly GlyphRun[]>();
const SAID_MOST = 100;

export function keepWidths(sessionId: string, runs: readonly GlyphRun[]): void {
  said.delete(sessionId);
  said.set(sessionId, runs);
  for (const oldest of said.keys()) {
    if (said.size <= SAID_MOST) break;
    said.delete(oldest);
  }
}

export const getReportedWidths = (sessionId: string): readonly GlyphRun[] => said.get(sessionId) ?? [];
