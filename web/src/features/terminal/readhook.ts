/**
 * The grid as text, for tests and user scripts: dispatch a `terminal:read` CustomEvent with an
 * object as `detail` on a terminal's element, and the object is filled in before the dispatch
 * returns. Nothing is exposed that a script of this page could not select and copy.
 */
import type { IBuffer, Terminal } from "@xterm/xterm";

export interface TerminalText {
  /** Lines of the screen, right-trimmed. */
  screen?: string[];
  /** All lines with the scrollback, right-trimmed. */
  lines?: string[];
  cursor?: { x: number; y: number };
  cols?: number;
  rows?: number;
}

export function linesOf(buffer: IBuffer, from = 0, to = buffer.length): string[] {
  const found: string[] = [];
  for (let y = from; y < to; y++) found.push(buffer.getLine(y)?.translateToString(true) ?? "");
  return found;
}

export function answerReads(element: HTMLElement, terminal: Terminal): void {
  element.addEventListener("terminal:read", (event) => {
    const detail: unknown = (event as CustomEvent<unknown>).detail;
    if (typeof detail !== "object" || detail === null) return;
    const buffer = terminal.buffer.active;
    const text: TerminalText = {
      screen: linesOf(buffer, buffer.baseY, buffer.baseY + terminal.rows),
      lines: linesOf(buffer),
      cursor: { x: buffer.cursorX, y: buffer.cursorY },
      cols: terminal.cols,
      rows: terminal.rows,
    };
    Object.assign(detail, text);
  });
}
