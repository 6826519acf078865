import { describe, expect, test } from "vitest";
import { insertMention, mentionAt } from "./mention.ts";

describe("a file behind @", () => {
  test.each([
    ["@", 1, 0, ""],
    ["look at @src/a and", 14, 8, "src/a"],
    ["one\n@b", 6, 4, "b"],
    ["me@example.org", 14, undefined, undefined],
    ["@a b", 4, undefined, undefined],
    ["@a", 0, undefined, undefined],
  ])("in %j at %i", (text, caret, from, words) => {
    const found = mentionAt("s", text, caret);
    expect([found?.from, found?.words]).toEqual([from, words]);
  });

  test("takes the place of what was written, and one space follows", () => {
    const open = mentionAt("s", "see @wa now", 7);
    expect(open && insertMention("see @wa now", open, "src/walk.py")).toEqual({
      text: "see @src/walk.py now",
      caret: 17,
    });
    const last = mentionAt("s", "@", 1);
    expect(last && insertMention("@", last, "a")).toEqual({ text: "@a ", caret: 3 });
  });
});
