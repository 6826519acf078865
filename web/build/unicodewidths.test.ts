import { expect, test } from "vitest";
import { countColumns } from "../src/features/terminal/text/unicodewidths.ts";
import { unicode11 } from "./unicodewidths.ts";

test("every character has the columns that xterm's addon counts", () => {
  const addon = unicode11();
  const wrong: number[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1)
    if (countColumns(code) !== addon.wcwidth(code)) wrong.push(code);
  expect(wrong).toEqual([]);
});
