/** The terminal of the page without a page: shows what several were fed, one JSON document in and one out. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [web] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${web}/${path}`).href);
globalThis.window ??= globalThis;
globalThis.document ??= { createElement: () => ({ getContext: () => null }) };
const { Terminal } = await load("node_modules/@xterm/xterm/lib/xterm.mjs");
const { describeWidths } = await load("build/unicodewidths.ts");
globalThis.UNICODE_11_WIDTHS = describeWidths();
const { countColumns } = await load("src/features/terminal/text/unicodewidths.ts");
const { registerWidths } = await load("src/features/terminal/text/widths.ts");

function shown(terminal) {
  const buffer = terminal.buffer.active;
  const rows = [];
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    rows.push([line.isWrapped, line.translateToString(true).trimEnd()]);
  }
  const cursor = [buffer.cursorX, buffer.baseY + buffer.cursorY];
  return { rows, cursor, base: buffer.baseY, kind: buffer.type };
}

const answers = [];
for (const { cols, rows, data, then, wider } of JSON.parse(readFileSync(0, "utf8"))) {
  const terminal = new Terminal({ cols, rows, scrollback: 5000, allowProposedApi: true });
  registerWidths(terminal.unicode, countColumns);
  const write = (text) => new Promise((done) => terminal.write(Buffer.from(text, "latin1"), done));
  await write(data);
  const first = shown(terminal);
  await write(then);
  const second = shown(terminal);
  terminal.resize(wider, rows);
  answers.push({ first, second, resized: shown(terminal) });
}
process.stdout.write(JSON.stringify(answers));
