/** Finding what somebody means by a few letters of it. */

/** Where a word begins: after a blank or a separator, or at a capital. */
const BEGINS = /[\s/\\._:-]/;

interface Found {
  score: number;
  /** Indices of the matched letters. */
  at: readonly number[];
}

const RUN = 6;
const BEGINNING = 8;
const FIRST = 4;
const GAP_MOST = 6;

function begins(text: string, at: number): boolean {
  const before = text[at - 1];
  if (before === undefined || BEGINS.test(before)) return true;
  const letter = text.charAt(at);
  return letter !== letter.toLowerCase() && before === before.toLowerCase();
}

/** The place of `letter` from `from` on: at the beginning of a word where that leaves room for the rest. */
function place(text: string, low: string, letter: string, rest: string, from: number): number {
  const next = low.indexOf(letter, from);
  if (next < 0 || next === from || begins(text, next)) return next;
  for (let at = next; at >= 0; at = low.indexOf(letter, at + 1)) {
    if (begins(text, at)) return holds(low, rest, at + 1) ? at : next;
  }
  return next;
}

function holds(low: string, letters: string, from: number): boolean {
  let at = from;
  for (const letter of letters) {
    at = low.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** @returns undefined where the letters do not stand in `text` in this order. */
export function match(text: string, letters: string): Found | undefined {
  const low = text.toLowerCase();
  const wanted = letters.toLowerCase().replace(/\s+/g, "");
  if (!holds(low, wanted, 0)) return undefined;
  const at: number[] = [];
  let score = 0;
  let last = -1;
  for (let n = 0; n < wanted.length; n++) {
    const found = place(text, low, wanted.charAt(n), wanted.slice(n + 1), last + 1);
    if (found === last + 1 && n > 0) score += RUN;
    else if (begins(text, found)) score += BEGINNING;
    else score -= Math.min(GAP_MOST, found - last);
    if (found === 0) score += FIRST;
    at.push(found);
    last = found;
  }
  return { score: score - text.length / 100, at };
}

/** A text in pieces, those whose letters stand at `at` apart from the rest. */
export function runs(text: string, at: readonly number[]): { part: string; hit: boolean }[] {
  const hits = new Set(at);
  const found: { part: string; hit: boolean }[] = [];
  for (let n = 0; n < text.length; n++) {
    const hit = hits.has(n);
    const last = found.at(-1);
    if (last?.hit === hit) last.part += text.charAt(n);
    else found.push({ part: text.charAt(n), hit });
  }
  return found;
}
