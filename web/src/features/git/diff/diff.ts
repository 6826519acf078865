/** A unified diff, line by line; a merge's combined diff too (`@@@ … @@@`). */

/** @returns where a key leads from row `at` of `count`; undefined for other keys. */
export function stepOf(key: string, at: number, count: number): number | undefined {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}

export function handleListKey(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const rows = [...list.querySelectorAll<HTMLElement>("button.git-file")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? undefined : stepOf(event.key, at, rows.length);
  if (to === undefined) return;
  event.preventDefault();
  rows[to]?.focus();
}

export interface RowSpan {
  first: number;
  /** Behind the last. */
  end: number;
}

/** Rows drawn above and below what is seen, so that a flick does not show gaps. */
export const SPARE = 30;
/** Rows by which a window moves: scrolling within it draws nothing. */
export const STEP = 15;

/** @param top @param height of what is seen, in pixels. */
export function spanOf(top: number, height: number, row: number, rows: number): RowSpan {
  const at = Math.floor(Math.max(0, top) / row / STEP) * STEP;
  const seen = Math.ceil(height / row) + STEP;
  return { first: Math.max(0, Math.min(at, rows) - SPARE), end: Math.min(rows, at + seen + SPARE) };
}

/** Controls but the tab, zero-width characters, and what changes the direction of writing. */
const HIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const PLAIN = /^[\x20-\x7e]*$/;
const TAB = 4;

function written(char: string): string {
  if (char === "\r") return "␍";
  return `‹${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
}

export const visible = (text: string): string => text.replace(HIDDEN, written);

/** The same for a text of several lines. */
export const visibleLines = (text: string): string => text.split("\n").map(visible).join("\n");

/** Columns that a line takes at most; wide characters take two. */
export function columns(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let sum = 0;
  for (const char of visible(text)) sum += char === "\t" ? TAB : char <= "~" ? 1 : 2;
  return sum;
}

export type DiffLineKind = "head" | "hunk" | "add" | "del" | "same" | "note";

export interface Line {
  kind: DiffLineKind;
  /** Its number before and after; absent where the line is not in that side. */
  old?: number;
  new?: number;
  /** Without its sign. */
  text: string;
}

/** What is left of the hunk that the parser is in, by side. */
interface Hunk {
  /** Columns of signs in front of each line: one, or one for each parent of a merge. */
  signs: number;
  oldAt: number;
  newAt: number;
  oldLeft: number;
  newLeft: number;
}

const HUNK = /^(@@+) ((?:-\d+(?:,\d+)? )+)\+(\d+)(?:,(\d+))? \1/;

function count(text: string | undefined): number {
  return text === undefined ? 1 : Number(text);
}

function openHunk(line: string): Hunk | undefined {
  const found = HUNK.exec(line);
  if (!found) return undefined;
  const [from = "0", length] = (found[2] ?? "").trim().split(" ")[0]?.slice(1).split(",") ?? [];
  return {
    signs: (found[1] ?? "").length - 1,
    oldAt: Number(from),
    newAt: Number(found[3]),
    oldLeft: count(length),
    newLeft: count(found[4]),
  };
}

/** Whether a line still belongs to the hunk: a removed `-- x` looks like a file's head. */
function holds(hunk: Hunk, line: string): boolean {
  if (line.startsWith("\\")) return true;
  // Lines of a merge's other parents are in no count, and its hunks end where no sign begins.
  if (hunk.signs > 1) return /^[ +-]/.test(line);
  return hunk.oldLeft > 0 || hunk.newLeft > 0;
}

/** Of a merge, the numbers before are those of its first parent. */
function inside(hunk: Hunk, line: string): Line {
  if (line.startsWith("\\")) return { kind: "note", text: line.slice(2) };
  const signs = line.slice(0, hunk.signs);
  const removed = signs.includes("-");
  const kind = removed ? "del" : signs.includes("+") ? "add" : "same";
  const found: Line = { kind, text: line.slice(hunk.signs) };
  if (removed ? signs[0] === "-" : signs[0] !== "+") {
    found.old = hunk.oldAt++;
    hunk.oldLeft--;
  }
  if (!removed) {
    found.new = hunk.newAt++;
    hunk.newLeft--;
  }
  return found;
}

export function parseDiff(text: string): Line[] {
  if (text === "") return [];
  const lines: Line[] = [];
  let hunk: Hunk | undefined;
  for (const line of (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")) {
    const opened = openHunk(line);
    if (opened) lines.push({ kind: "hunk", text: line });
    else if (hunk && holds(hunk, line)) lines.push(inside(hunk, line));
    else lines.push({ kind: "head", text: line });
    if (opened || lines.at(-1)?.kind === "head") hunk = opened;
  }
  return lines;
}

/** Names and hashes that the page tells already; modes, renames and the like stay. */
const KNOWN = /^(diff |index |--- |\+\+\+ )/;

/** The lines worth showing: of a file's head only what is not said elsewhere. */
export const selectShownLines = (lines: readonly Line[]): Line[] =>
  lines.filter((line) => line.kind !== "head" || !KNOWN.test(line.text));

interface Totals {
  added: number;
  removed: number;
  hunks: number;
}

export function totals(lines: readonly Line[]): Totals {
  const sum = { added: 0, removed: 0, hunks: 0 };
  for (const { kind } of lines) {
    if (kind === "add") sum.added++;
    else if (kind === "del") sum.removed++;
    else if (kind === "hunk") sum.hunks++;
  }
  return sum;
}

/** Where the next hunk begins, seen from a line; undefined when there is none that way. */
export function hunkFrom(lines: readonly Line[], at: number, step: 1 | -1): number | undefined {
  for (let n = at + step; n >= 0 && n < lines.length; n += step) {
    if (lines[n]?.kind === "hunk") return n;
  }
  return undefined;
}
