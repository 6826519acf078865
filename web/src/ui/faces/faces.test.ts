import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { visitOf } from "./faces.ts";

test("a first visit fetches no face, a second one does when idle, later ones begin with it", () => {
  expect([visitOf(null), visitOf("seen"), visitOf("here"), visitOf("?")]).toEqual([
    "first",
    "second",
    "later",
    "second",
  ]);
});

test("each face is fetched by the part of its letters", () => {
  const here = new URL("./", import.meta.url);
  for (const sheet of readdirSync(here).filter((name) => name.endsWith(".css"))) {
    const faces = readFileSync(new URL(sheet, here), "utf-8").split("@font-face").slice(1);
    expect(faces.length).toBe(sheet === "inter.css" ? 2 : 4);
    for (const face of faces) expect(face).toMatch(/unicode-range:\s+u\+/i);
  }
});
