import { expect, test } from "vitest";
import { parsePanel, WIDTH_LEAST, WIDTH_MOST } from "./panel.ts";

test("what is stored is checked", () => {
  const usual = parsePanel(null);
  expect(usual.page).toBe("");
  expect(parsePanel('{"page": "files", "last": "git", "width": 500}')).toEqual({
    page: "files",
    last: "git",
    width: 500,
  });
  for (const broken of ["{", "null", "7", '{"page": 1, "width": "wide"}'])
    expect(parsePanel(broken), broken).toEqual(usual);
});

test("a width has its bounds", () => {
  expect(parsePanel('{"width": 1}').width).toBe(WIDTH_LEAST);
  expect(parsePanel('{"width": 99999}').width).toBe(WIDTH_MOST);
});
