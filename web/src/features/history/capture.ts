/** Rules for showing a captured history. */

/** A capture may end its lines with a bare line feed, which would leave the caret's column. */
export function asLines(capture: string): string {
  return capture.replace(/\r?\n/g, "\r\n");
}

/** The way back to the caret, up and to the right, stands at the end of a whole history. */
const BLANK = /^(?:\s|\x1b\[[\d;]*[ACm])*$/;

/** A screen is captured with the empty rows below its text, which would be all that is seen. */
export function withoutBlankEnd(capture: string): string {
  let end = capture.length;
  for (;;) {
    const cut = capture.lastIndexOf("\n", end - 1);
    if (cut < 0 || end === 0 || !BLANK.test(capture.slice(cut, end))) return capture.slice(0, end);
    end = cut;
  }
}
