import type { IUnicodeVersionProvider } from "@xterm/xterm";
import { expect, test } from "vitest";
import { countColumns } from "./unicodewidths.ts";
import { keepWidths, TmuxWidths, getReportedWidths } from "./widths.ts";

/** Columns as xterm adds them up: a joined character replaces its cell's width. */
function columns(widths: IUnicodeVersionProvider, text: string): number {
  let preceding = 0;
  let total = 0;
  for (const char of text) {
    const properties = widths.charProperties(char.codePointAt(0) ?? 0, preceding);
    const width = (properties >> 1) & 3;
    total += (properties & 1) === 1 ? width - ((preceding >> 1) & 3) : width;
    preceding = properties;
  }
  return total;
}

const widths = new TmuxWidths(countColumns);

test("what the pane's tmux says comes first", () => {
  const told = new TmuxWidths(countColumns);
  told.tell([
    [0x1fae8, 0x1fae9, 1],
    [0x4dc0, 0x4dc1, 2],
  ]);
  expect(["\u{1fae8}", "䷀", "䷂", "🥲"].map((text) => columns(told, text))).toEqual([1, 2, 1, 2]);
  for (let n = 0; n < 200; n++) keepWidths(String(n), [[n, n, 1]]);
  expect([getReportedWidths("0"), getReportedWidths("199")]).toEqual([[], [[199, 199, 1]]]);
});

/** Read with `display -p '#{cursor_x}'` in tmux 3.3a. */
test.each([
  ["漢字", 4],
  ["한", 2],
  ["ｱ", 1],
  ["😀", 2],
  ["⭐", 2],
  ["❤", 1],
  ["❤️", 1],
  ["✔️", 1],
  ["1️⃣", 1],
  ["👨‍👩‍👧", 2],
  ["👍🏽", 4],
  ["👩🏽‍💻", 4],
  ["🫱🏻‍🫲🏿", 6],
  ["👨‍👩‍👧‍👦", 2],
  ["🏳️‍🌈", 1],
  ["🏴‍☠️", 2],
  ["क्‍ष", 1],
  ["👩\u200db", 3],
  ["👩\u200d ", 3],
  ["a\u200dé", 1],
  ["🇩🇪", 2],
  ["e\u0301", 1],
  ["a\u200bb", 2],
  ["🥲", 2],
  ["┌─┐", 3],
  ["⚙", 1],
])("%s takes %i columns", (text, wanted) => {
  expect(columns(widths, text)).toBe(wanted);
});
