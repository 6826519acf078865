/** Columns of the characters of Unicode 11, read from xterm's addon, whose code is five times as large. */
import { Unicode11Addon } from "@xterm/addon-unicode11";
import type { IUnicodeVersionProvider, Terminal } from "@xterm/xterm";

const LAST = 0x10ffff;
/** The mark behind the length of a run of characters, by their columns. */
const MARKS = ",;:";

export function unicode11(): IUnicodeVersionProvider {
  const found: IUnicodeVersionProvider[] = [];
  const unicode = { register: (provider: IUnicodeVersionProvider) => found.push(provider) };
  new Unicode11Addon().activate({ unicode } as unknown as Terminal);
  if (!found[0]) throw new Error("the Unicode 11 addon registered no table");
  return found[0];
}

/** @returns the lengths of the runs of equal width from 0 on, in base 36, each with its mark. */
export function describeWidths(): string {
  const widths = unicode11();
  let text = "";
  let first = 0;
  for (let code = 1; code <= LAST + 1; code += 1) {
    const width = widths.wcwidth(first);
    if (code <= LAST && widths.wcwidth(code) === width) continue;
    text += (code - first).toString(36) + MARKS[width];
    first = code;
  }
  return text;
}
