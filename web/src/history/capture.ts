/** Rules for showing a captured history. */

/** A capture may end its lines with a bare line feed, which would leave the caret's column. */
export function asLines(capture: string): string {
  return capture.replace(/\r?\n/g, "\r\n");
}

const BLANK = /^(?:\s|\x1b\[[\d;]*m)*$/;

/** A screen is captured with the empty rows below its text, which would be all that is seen. */
export function withoutBlankEnd(capture: string): string {
  let end = capture.length;
  for (;;) {
    const cut = capture.lastIndexOf("\n", end - 1);
    if (cut < 0 || end === 0 || !BLANK.test(capture.slice(cut, end))) return capture.slice(0, end);
    end = cut;
  }
}

export function countLines(capture: string): number {
  let count = 1;
  for (let at = capture.indexOf("\n"); at >= 0; at = capture.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The row to scroll to so that `line` stands a third down the screen. */
export function rowFor(line: number, rows: number): number {
  return Math.max(0, line - Math.floor(rows / 3));
}

export interface Parts {
  before: string;
  match: string;
  after: string;
}

const CONTEXT = 60;

/** A matched line cut to what surrounds the match. */
export function partsOf(text: string, offset: number, length: number): Parts {
  const from = Math.max(0, offset - CONTEXT);
  const to = offset + length;
  return {
    before: (from > 0 ? "…" : "") + text.slice(from, offset).trimStart(),
    match: text.slice(offset, to),
    after: text.slice(to, to + CONTEXT),
  };
}
