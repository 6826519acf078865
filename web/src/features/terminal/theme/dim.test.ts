import { Terminal } from "@xterm/xterm";
import { expect, test } from "vitest";
import { blend, showDimReadable } from "./dim.ts";
import { themeOf } from "./themes.ts";

/** @returns of each character that is no blank its colour (undefined: the usual one) and whether it is dim. */
async function written(text: string, dark = false): Promise<Record<string, string>> {
  const terminal = new Terminal({ theme: themeOf(undefined, dark), allowProposedApi: true });
  showDimReadable(terminal);
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const row = terminal.buffer.active.getLine(0);
  const found: Record<string, string> = {};
  for (let x = 0; x < terminal.cols; x++) {
    const cell = row?.getCell(x);
    const char = cell?.getChars();
    if (!cell || !char) continue;
    const colour = cell.isFgDefault() ? "usual" : cell.getFgColor().toString(16);
    found[char] = cell.isDim() ? `${colour} dim` : colour;
  }
  terminal.dispose();
  return found;
}

const middle = (one: string, other: string): string =>
  blend(Number.parseInt(one, 16), Number.parseInt(other, 16)).toString(16);

test("dim text is half as far from a light ground, until it ends", async () => {
  const { red = "", foreground = "", background = "" } = themeOf(undefined, false);
  const ground = background.slice(1);
  expect(await written("a\x1b[2mb\x1b[31mc\x1b[48;5;16md\x1b[22;49me\x1b[39mf")).toEqual({
    a: "usual",
    b: middle(foreground.slice(1), ground),
    c: middle(red.slice(1), ground),
    d: middle(red.slice(1), "000000"),
    e: "1",
    f: "usual",
  });
});

test("colours of every kind are blended", async () => {
  const ground = themeOf(undefined, false).background?.slice(1) ?? "";
  expect(await written("\x1b[2;38;5;196ma\x1b[38;5;244mb\x1b[38;2;16;32;48mc\x1b[mz")).toEqual({
    a: middle("ff0000", ground),
    b: middle("808080", ground),
    c: middle("102030", ground),
    z: "usual",
  });
});

test("what is drawn in the colours of the ground is only no longer dim", async () => {
  expect(await written("\x1b[2;7;34ma")).toEqual({ a: "4" });
});

test("a dark ground keeps its dim text", async () => {
  expect(await written("\x1b[2ma", true)).toEqual({ a: "usual dim" });
});
