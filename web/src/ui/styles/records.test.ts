import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SRC = new URL("../../", import.meta.url);

const pages = readdirSync(SRC, { recursive: true, encoding: "utf-8" })
  .filter((name) => name.endsWith("Page.tsx"))
  .map((name) => ({ name, text: readFileSync(new URL(name, SRC), "utf-8") }))
  .filter(({ text }) => text.includes('class="records-page"'));

test("each page of records brings their look along, whichever page was open before", () => {
  expect(pages.length).toBeGreaterThan(6);
  const bare = pages.filter(({ text }) => !text.includes('import "../../ui/styles/records.css"'));
  expect(bare.map(({ name }) => name)).toEqual([]);
});
