import { describe, expect, test } from "vitest";
import { truncateText } from "./format.ts";

describe("texts that are cut", () => {
  test.each([
    ["short", 5, "short"],
    ["longer", 4, "long"],
    ["ab👩‍💻c", 4, "ab"],
    ["ab👩‍💻c", 7, "ab👩‍💻"],
    ["cafe\u0301s", 4, "caf"],
    ["修复登录", 2, "修复"],
  ])("%s in %d", (text, most, want) => {
    expect(truncateText(text, most)).toBe(want);
  });
});
