/** Places in a history that is shown in rows. */

export function countLines(capture: string): number {
  let count = 1;
  for (let at = capture.indexOf("\n"); at >= 0; at = capture.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The row to scroll to so that row `row` stands a third down the screen. */
export function rowFor(row: number, rows: number): number {
  return Math.max(0, row - Math.floor(rows / 3));
}

/** More rows than a capture can take: a character has two cells at most. */
export function mostRows(capture: string, cols: number): number {
  return countLines(capture) + Math.ceil((2 * capture.length) / cols);
}

/** What is needed of a terminal's rows. */
export interface Rows {
  length: number;
  getLine(y: number): Row | undefined;
}

interface Row {
  isWrapped: boolean;
  length: number;
  getCell(x: number): { getChars(): string; getWidth(): number } | undefined;
}

interface CellPosition {
  row: number;
  column: number;
}

/** The cell of character `offset` of a line, which may be wrapped over several rows; all from 0. */
export function findCell(rows: Rows, line: number, offset: number): CellPosition {
  let row = 0;
  for (let left = line; left > 0 && row < rows.length - 1;) {
    row += 1;
    if (!rows.getLine(row)?.isWrapped) left -= 1;
  }
  let left = offset;
  for (let y = row; ; y++) {
    const found = rows.getLine(y);
    if (!found || (y > row && !found.isWrapped)) return { row, column: 0 };
    for (let x = 0; x < found.length; x++) {
      const cell = found.getCell(x);
      // The second half of a wide character, or a column in which none had room.
      if (!cell || cell.getWidth() === 0 || (cell.getChars() === "" && isRest(found, x))) continue;
      if (left <= 0) return { row: y, column: x };
      left -= [...cell.getChars()].length || 1;
    }
  }
}

function isRest(row: Row, column: number): boolean {
  for (let x = column; x < row.length; x++) if (row.getCell(x)?.getChars()) return false;
  return true;
}

interface Parts {
  before: string;
  match: string;
  after: string;
}

const CONTEXT = 60;

/** A matched line cut to what surrounds the match; both numbers count characters, as the service does. */
export function partsOf(line: string, offset: number, length: number): Parts {
  const text = [...line];
  const cut = (from: number, to: number): string => text.slice(from, to).join("");
  const from = Math.max(0, offset - CONTEXT);
  const to = offset + length;
  return {
    before: (from > 0 ? "…" : "") + cut(from, offset).trimStart(),
    match: cut(offset, to),
    after: cut(to, to + CONTEXT),
  };
}
