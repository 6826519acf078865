/** Opens the file whose place a program names, by Ctrl+click (Cmd on a Mac) or a tap. */
import type { IBuffer, IBufferCellPosition, ILink, Terminal } from "@xterm/xterm";
import { openFile } from "../../files/state.ts";
import { relativePath } from "../../files/relativepath.ts";
import { sessionList } from "../../../store/state.ts";
import { filesNamed } from "./filepaths.ts";
import { isWanted, showLinkTarget } from "./links.ts";

/** Rows that one wrapped line is followed over, each way. */
const ROWS_MAX = 8;

interface Line {
  text: string;
  /** The cell of each of the text's characters, from 1. */
  cells: IBufferCellPosition[];
}

function firstRow(buffer: IBuffer, row: number): number {
  let first = row;
  while (first > 0 && row - first < ROWS_MAX && buffer.getLine(first)?.isWrapped) first -= 1;
  return first;
}

/** @param row from 0, any of the rows that a line is wrapped over. */
function lineAt(buffer: IBuffer, row: number): Line {
  const line: Line = { text: "", cells: [] };
  const start = firstRow(buffer, row);
  for (let y = start; y <= row + ROWS_MAX; y++) {
    const found = buffer.getLine(y);
    if (!found || (y > start && !found.isWrapped)) break;
    for (let x = 0; x < found.length; x++) {
      const cell = found.getCell(x);
      if (!cell || cell.getWidth() === 0) continue;
      const chars = cell.getChars() || " ";
      line.text += chars;
      for (let n = 0; n < chars.length; n++) line.cells.push({ x: x + 1, y: y + 1 });
    }
  }
  return line;
}

/** As the service takes it: from the workspace where it is inside. */
function pathFor(sessionId: string, path: string): string {
  const folder = sessionList.peek().byId.get(sessionId)?.workingDir ?? "";
  return relativePath(path, folder) ?? path.replace(/^\.\//, "");
}

export function addFileLinks(terminal: Terminal, sessionId: string): void {
  terminal.registerLinkProvider({
    provideLinks: (row, callback) => {
      const { text, cells } = lineAt(terminal.buffer.active, row - 1);
      const links = filesNamed(text).flatMap(({ at, length, path, line }): ILink[] => {
        const [start, end] = [cells[at], cells[at + length - 1]];
        if (!start || !end) return [];
        return [
          {
            range: { start, end },
            text: text.slice(at, at + length),
            activate: (event) => isWanted(event) && openFile(sessionId, pathFor(sessionId, path), line),
            hover: () => showLinkTarget(terminal, `${path}, line ${line}`),
            leave: () => showLinkTarget(terminal, undefined),
          },
        ];
      });
      callback(links.length > 0 ? links : undefined);
    },
  });
}
