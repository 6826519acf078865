/** Finding what somebody means: by a few letters of its name, or by another word for it. */
import { readStored, writeStored } from "../../lib/stored.ts";
import type { Entry } from "./entries.ts";

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

export interface Hit {
  entry: Entry;
  /** Indices of the label's letters that were typed. */
  at: readonly number[];
}

/** More than these nobody reads; typing on narrows them. */
export const SHOWN = 60;

/** A letter of a word counts as one in the middle of a name, a whole word and a word of the name for more. */
const WORD_LETTER = RUN;
const WHOLE_WORD = 10;
const NAME_WORD = 4;

const splitWords = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Each word that was typed begins a word of the name or another word for it. @returns undefined where one does not. */
export function matchWords(name: string, others: string, letters: string): number | undefined {
  const own = splitWords(name);
  const all = [...own, ...splitWords(others)];
  const wanted = splitWords(letters);
  // `select-pane` is one word to whoever types it.
  const compound = wanted.length > 1 && others.split(" ").includes(letters.trim().toLowerCase());
  let score = compound ? WHOLE_WORD : 0;
  for (const typed of wanted) {
    const begins = (word: string) => word.startsWith(typed);
    if (!all.some(begins)) return undefined;
    score += typed.length * WORD_LETTER;
    if (all.includes(typed)) score += WHOLE_WORD;
    if (own.some(begins)) score += NAME_WORD;
  }
  return score;
}

/** A hit in the detail counts for less than any in a name. */
const BESIDE = 1000;
/** What was used a while ago is likelier than what was not. */
const USED = 5;

/** Most who type a word that a session's name has mean the session. */
const SESSION = 10;

function rate(entry: Entry, letters: string): { at: readonly number[]; score: number } | undefined {
  const label = match(entry.label, letters);
  const words = matchWords(entry.label, entry.words ?? "", letters);
  if (label || words !== undefined) {
    const named = Math.max(label?.score ?? -Infinity, (words ?? -Infinity) - entry.label.length / 100);
    return { at: label?.at ?? [], score: named + (entry.session ? SESSION : 0) };
  }
  const detail = entry.detail === undefined ? undefined : match(entry.detail, letters);
  return detail && { at: [], score: detail.score - BESIDE };
}

/**
 * @param used keys of the entries that were used, the last one first.
 * @returns what `letters` may mean, the likeliest first; without letters what was used, then all.
 */
export function searchEntries(
  all: readonly Entry[],
  letters: string,
  used: readonly string[] = [],
): readonly Hit[] {
  if (letters.trim() === "") {
    const again = used.flatMap((key) => all.find((entry) => entry.key === key) ?? []);
    return [...new Set([...again, ...all])].slice(0, SHOWN).map((entry) => ({ entry, at: [] }));
  }
  const hits = all.flatMap((entry) => {
    const found = rate(entry, letters);
    return found ? [{ ...found, entry, score: found.score + (used.includes(entry.key) ? USED : 0) }] : [];
  });
  return hits.toSorted((a, b) => b.score - a.score).slice(0, SHOWN);
}

const KEY = "tservice.commands";
/** More would push the sessions out of sight. */
export const USED_KEPT = 5;

/** @returns keys of the commands that were used last in this browser. */
export function readUsed(): string[] {
  try {
    const stored: unknown = JSON.parse(readStored(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((key) => typeof key === "string").slice(0, USED_KEPT) : [];
  } catch {
    return [];
  }
}

export function noteUsed(key: string): void {
  writeStored(KEY, JSON.stringify([key, ...readUsed().filter((other) => other !== key)].slice(0, USED_KEPT)));
}
