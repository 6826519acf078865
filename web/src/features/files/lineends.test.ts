import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { describe, expect, test } from "vitest";
import { keepFrame, linesOf, replaceAll, textOf } from "./codemirror.ts";

const open = (content: string): EditorState =>
  EditorState.create({ doc: linesOf(content), extensions: [history(), keepFrame(content)] });

/** @param from counted in the editor's document, where each line end is one character. */
const edit = (state: EditorState, from: number, to: number, insert: string): EditorState =>
  state.update({ changes: { from, to, insert: state.toText(insert) } }).state;

const after = (state: EditorState, command: typeof undo): EditorState => {
  let found = state;
  command({ state, dispatch: (transaction) => (found = transaction.state) });
  return found;
};

/** The same numbers at each run. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PARTS = [
  "\r\n",
  "\n",
  "\r",
  "\ufeff",
  "\0",
  "\u2028",
  "\u0085",
  "\f",
  "ä",
  "🙂",
  "e\u0301",
  "a",
  "\t ",
];

describe("what nobody edits stays", () => {
  const mixed = "one\r\ntwo\nthree\r\nfour";

  test.each([
    ["a letter", 0, 0, "x", "xone\r\ntwo\nthree\r\nfour"],
    ["a letter at the end of a line", 3, 3, "x", "onex\r\ntwo\nthree\r\nfour"],
    ["a new line in one that ends with CR LF", 1, 1, "\n", "o\r\nne\r\ntwo\nthree\r\nfour"],
    ["a new line in one that ends with LF", 5, 5, "\n", "one\r\nt\nwo\nthree\r\nfour"],
    ["a new line at the end of the file", 18, 18, "\n", "one\r\ntwo\nthree\r\nfour\r\n"],
    ["a line that goes", 0, 4, "", "two\nthree\r\nfour"],
    ["a line end that goes", 3, 4, "", "onetwo\nthree\r\nfour"],
    ["lines that are replaced", 4, 14, "a\nb\nc\n", "one\r\na\nb\nc\nfour"],
    ["all of it", 0, 18, "x\ny", "x\r\ny"],
  ])("%s", (_name, from, to, insert, saved) => {
    const state = open(mixed);
    const changed = edit(state, from, to, insert);
    expect(textOf(changed)).toBe(saved);
    expect(textOf(after(changed, undo))).toBe(mixed);
    expect(textOf(after(after(changed, undo), redo))).toBe(saved);
  });

  test("a byte order mark is no character of the first line", () => {
    const state = open("\ufeffa\r\n");
    expect(state.doc.line(1).text).toBe("a");
    expect(textOf(edit(state, 0, 1, "b"))).toBe("\ufeffb\r\n");
  });

  test("another text brings its own", () => {
    const state = open(mixed);
    const replaced = state.update(replaceAll(state, "\ufeffx\ny\r\n")).state;
    expect(textOf(replaced)).toBe("\ufeffx\ny\r\n");
    expect(textOf(after(replaced, undo))).toBe(mixed);
  });

  test("any text comes back, edited in one place or not, and after all is undone", () => {
    const roll = dice(7);
    for (let turn = 0; turn < 2_000; turn++) {
      const content = Array.from({ length: roll(24) }, () => PARTS[roll(PARTS.length)]).join("");
      const first = open(content);
      expect(textOf(first)).toBe(content);
      const line = first.doc.line(1 + roll(first.doc.lines));
      const at = line.from + roll(line.length + 1);
      const start = content.startsWith("\ufeff") ? 1 : 0;
      const before = [...(content.match(/\r?\n/g) ?? [])].slice(0, line.number - 1);
      const offset = start + at + before.join("").length - before.length;
      expect(textOf(edit(first, at, at, "x"))).toBe(`${content.slice(0, offset)}x${content.slice(offset)}`);
      let state = first;
      for (let step = 0; step < 4; step++) {
        const from = roll(state.doc.length + 1);
        const to = from + roll(Math.min(6, state.doc.length - from + 1));
        state = edit(state, from, to, ["", "\n", "x\ny", "z"][roll(4)] ?? "");
      }
      for (let step = 0; step < 4; step++) state = after(state, undo);
      expect(textOf(state)).toBe(content);
    }
  });
});
