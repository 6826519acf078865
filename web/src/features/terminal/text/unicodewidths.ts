/** Columns of the characters of Unicode 11, from a table that the build makes of xterm's. */

/** Lengths of runs in base 36, each followed by the mark of its columns. */
declare const UNICODE_11_WIDTHS: string;

type Width = 0 | 1 | 2;

const MARKS = ",;:";
/** Characters with an entry of their own; the few runs of later ones are walked. */
const TABLE_SIZE = 0x20000;

interface Widths {
  table: Uint8Array;
  /** Runs beyond the table: the first character after each, and its columns. */
  later: [number, Width][];
}

function parseWidths(text: string): Widths {
  const table = new Uint8Array(TABLE_SIZE);
  const later: [number, Width][] = [];
  let end = 0;
  for (const [, length = "", mark = ""] of text.matchAll(/(\w+)(\W)/g)) {
    const width = MARKS.indexOf(mark) as Width;
    table.fill(width, end);
    end += parseInt(length, 36);
    if (end > TABLE_SIZE) later.push([end, width]);
  }
  return { table, later };
}

let widths: Widths | undefined;

/** @returns the columns of a character, as xterm's Unicode 11 addon counts them. */
export function countColumns(codepoint: number): Width {
  widths ??= parseWidths(UNICODE_11_WIDTHS);
  if (codepoint < TABLE_SIZE) return widths.table[codepoint] as Width;
  return widths.later.find(([end]) => codepoint < end)?.[1] ?? 1;
}
