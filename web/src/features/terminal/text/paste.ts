/** What of a pasted text reaches the program, and when to ask first. */
import { formatBytes, plural } from "../../../lib/format.ts";

/** Control characters other than tab and line ends: among them the end of a bracketed paste. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

export function cleanPaste(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(CONTROLS, "");
}

const LARGE_CHARS = 5_000;

/**
 * @param bracketed the program marks pastes, so a line end does not run anything.
 * @returns the question to ask before pasting, or undefined to paste at once.
 */
export function pasteQuestion(text: string, bracketed: boolean): string | undefined {
  const lines = text.replace(/\n$/, "").split("\n").length;
  if (text.length > LARGE_CHARS) {
    return `Paste ${formatBytes(new TextEncoder().encode(text).length)} in ${plural(lines, "line")}?`;
  }
  if (!bracketed && lines > 1) {
    return `Paste ${plural(lines, "line")}? The program runs each line as it arrives.`;
  }
  return undefined;
}
