/**
 * A line's characters that a screen hides or that turn its order around are written out: code
 * that reads differently from what it does must not pass a look at its diff.
 */

/** Controls but the tab, zero-width characters, and what changes the direction of writing. */
const HIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const PLAIN = /^[\x20-\x7e]*$/;
const TAB = 4;

function written(char: string): string {
  if (char === "\r") return "␍";
  return `‹${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
}

export const visible = (text: string): string => text.replace(HIDDEN, written);

/** Columns that a line takes at most; wide characters take two. */
export function columns(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let sum = 0;
  for (const char of visible(text)) sum += char === "\t" ? TAB : char <= "~" ? 1 : 2;
  return sum;
}
