import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SRC = new URL("../../", import.meta.url);

const pages = readdirSync(SRC, { recursive: true, encoding: "utf-8" })
  .filter((name) => name.endsWith("Page.tsx"))
  .map((name) => ({ name, text: readFileSync(new URL(name, SRC), "utf-8") }))
  .filter(({ text }) => /class={?["`]records-page/.test(text));

test("each page of records brings their look along, whichever page was open before", () => {
  expect(pages.length).toBeGreaterThan(3);
  const bare = pages.filter(({ text }) => !/^import "[./a-z]*styles\/records.css"/m.test(text));
  expect(bare.map(({ name }) => name)).toEqual([]);
});
