/** Rows of a hunk as they are drawn: one below the other, or side by side. */
import type { CommentResponse, RowResponse } from "../../api/types.ts";
import type { FileKey, Selection, Side } from "./state.ts";

/** Both sides of one drawn row; a side is absent where the other has more lines. */
export interface SplitRow {
  left: RowResponse | undefined;
  right: RowResponse | undefined;
}

/** @returns the rows side by side: removed lines beside those that replace them. */
export function splitRows(rows: readonly RowResponse[]): SplitRow[] {
  const found: SplitRow[] = [];
  let removed: RowResponse[] = [];
  let added: RowResponse[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      found.push({ left: removed[at], right: added[at] });
    }
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "removed") {
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.kind === "added") {
      added.push(row);
    } else {
      flush();
      found.push({ left: row, right: row });
    }
  }
  flush();
  return found;
}

/** A line in parts, of which one is marked as changed. */
export function splitWords(row: RowResponse): [before: string, marked: string, after: string] {
  const [start, end] = row.words ?? [0, 0];
  if (start === undefined || end === undefined || start >= end) return [row.text, "", ""];
  return [row.text.slice(0, start), row.text.slice(start, end), row.text.slice(end)];
}

/** @returns the comments that stand below a row. */
export function findThread(
  all: readonly CommentResponse[],
  key: FileKey,
  row: RowResponse,
): CommentResponse[] {
  return all.filter(({ repo, side, anchor }) => {
    if (repo !== key.repo || anchor.path !== key.path || anchor.endLine === undefined) return false;
    return side === "new" ? row.new === anchor.endLine : row.kind !== "added" && row.old === anchor.endLine;
  });
}

/** @returns comments on a file whose lines are gone, or not among the rows that are shown. */
export function findLoose(
  all: readonly CommentResponse[],
  key: FileKey,
  rows: readonly RowResponse[],
): CommentResponse[] {
  const shown = new Set(rows.flatMap((row) => findThread(all, key, row)));
  return all.filter((each) => each.repo === key.repo && each.anchor.path === key.path && !shown.has(each));
}

export const includes = (at: Selection | undefined, side: Side, line: number | undefined): boolean =>
  at !== undefined && line !== undefined && at.side === side && line >= at.line && line <= at.endLine;

/** @returns the lines from where the pointer went down to where it is. */
export const spanLines = (side: Side, from: number, to: number): Selection => ({
  side,
  line: Math.min(from, to),
  endLine: Math.max(from, to),
});
