import { describe, expect, test } from "vitest";
import { HiddenCharacters } from "./hiddencharacters.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function shown(...pieces: Uint8Array[]): string {
  const unshown = new HiddenCharacters();
  unshown.set([
    [0x1fa70, 0x1fae8, 2],
    [0x1fae9, 0x1fae9, 0],
  ]);
  return new TextDecoder().decode(Uint8Array.from(pieces.flatMap((piece) => [...unshown.without(piece)])));
}

describe("what tmux does not show", () => {
  test("is taken out, and nothing else", () => {
    expect(shown(bytes("a\u{1fae9}b\u{1fae8}\u{1fae9}\u{1fae9}c 日本"))).toBe("ab\u{1fae8}c 日本");
    expect(shown(bytes("plain"))).toBe("plain");
  });

  test("wherever the stream is cut", () => {
    const whole = bytes("\u{1fae9}x\u{1fae8}\u{1fae9}");
    for (let one = 0; one <= whole.length; one++)
      for (let two = one; two <= whole.length; two++)
        expect(shown(whole.subarray(0, one), whole.subarray(one, two), whole.subarray(two))).toBe(
          "x\u{1fae8}",
        );
  });

  test("where tmux shows all, nothing is touched", () => {
    const piece = bytes("\u{1fae9}");
    expect(new HiddenCharacters().without(piece)).toBe(piece);
  });
});
