/**
 * Characters that a pane's tmux does not show: its system does not know them, and they take no cell.
 * They are taken out before xterm sees them, for it gives each a cell or joins it to another.
 */
import type { GlyphRun } from "../link/frames.ts";

/** The first byte of every character of four bytes, which all of these are. */
const LEAD = 0xf0;
const LENGTH = 4;

function codeAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + LENGTH);
  return ((a & 7) << 18) | ((b & 63) << 12) | ((c & 63) << 6) | (d & 63);
}

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

export class HiddenCharacters {
  private codes: ReadonlySet<number> = new Set();
  /** The beginning of a character whose end has not come: three bytes at most. */
  private open: Uint8Array = new Uint8Array();

  /** @param runs of the pane; those without a cell are meant. */
  set(runs: readonly GlyphRun[]): void {
    const codes = new Set<number>();
    for (const [first, last, cells] of runs)
      if (cells === 0) for (let code = first; code <= last; code++) codes.add(code);
    this.codes = codes;
  }

  /** What comes next does not go on with what came before. */
  reset(): void {
    this.open = new Uint8Array();
  }

  /** @returns a piece of the stream without them. */
  without(piece: Uint8Array): Uint8Array {
    if (this.codes.size === 0) return piece;
    const bytes = this.open.length > 0 ? joined([this.open, piece]) : piece;
    this.reset();
    const kept: Uint8Array[] = [];
    let start = 0;
    for (let at = bytes.indexOf(LEAD); at >= 0; at = bytes.indexOf(LEAD, at + 1)) {
      if (at + LENGTH > bytes.length) {
        this.open = bytes.slice(at);
        kept.push(bytes.subarray(start, at));
        return joined(kept);
      }
      if (!this.codes.has(codeAt(bytes, at))) continue;
      kept.push(bytes.subarray(start, at));
      start = at + LENGTH;
    }
    return kept.length === 0 ? bytes : joined([...kept, bytes.subarray(start)]);
  }
}
