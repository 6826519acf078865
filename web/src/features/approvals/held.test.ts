import { expect, test } from "vitest";
import { type Held, holdPlaces } from "./held.ts";

const key = (item: string) => item;
const never = () => false;
const shown = (list: readonly Held<string>[]) =>
  list.map(({ item, gone }) => (gone ? `(${item})` : item)).join("");
const of = (text: string): Held<string>[] => [...text].map((item) => ({ item, gone: false }));

test("nothing is held where nobody points and nothing was answered", () => {
  expect(shown(holdPlaces(of("abc"), [..."cad"], key, never, false))).toBe("cad");
});

test("under the pointer nothing moves: what left stays, what is new comes last", () => {
  const once = holdPlaces(of("abc"), [..."dca"], key, never, true);
  expect(shown(once)).toBe("a(b)cd");
  expect(shown(holdPlaces(once, [..."dca"], key, never, false))).toBe("dca");
});

test("what was answered keeps its place among the others for a moment", () => {
  const held = holdPlaces(of("abc"), [..."bce"], key, (item) => item === "a", false);
  expect(shown(held)).toBe("(a)bce");
  expect(shown(holdPlaces(held, [..."bce"], key, never, false))).toBe("bce");
});

test("what comes back is what it was", () => {
  const held = holdPlaces(of("ab"), ["b"], key, never, true);
  expect(shown(holdPlaces(held, ["a", "b"], key, never, true))).toBe("ab");
});
