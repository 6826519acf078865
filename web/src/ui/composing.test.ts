import { expect, test } from "vitest";
import { isComposing } from "./composing.ts";

test("Safari ends a conversion before the key that ended it", () => {
  expect(isComposing({ isComposing: false, keyCode: 229 })).toBe(true);
  expect(isComposing({ isComposing: true, keyCode: 13 })).toBe(true);
  expect(isComposing({ isComposing: false, keyCode: 13 })).toBe(false);
});
