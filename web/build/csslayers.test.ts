import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { layerOf } from "./csslayers.ts";

const SOURCE = new URL("../src/", import.meta.url).pathname;

test("every sheet is in the cascade layer of its folder", () => {
  const index = readFileSync(`${SOURCE}shell/index.css`, "utf-8");
  const begun = [...index.matchAll(/@import "([^"]+)"(?: layer\((\w+)\))?;/g)];
  expect(begun.length).toBeGreaterThan(10);
  const ours = begun.filter(([, path]) => !/styles\/(?:tokens|base|forced)\.css|xterm\.css/.test(path ?? ""));
  for (const [line, path, layer] of ours)
    expect(path?.includes("/") && path.split("/").find((part) => /^\w+$/.test(part)), line).toBe(
      path?.startsWith("./") ? undefined : layer,
    );
  expect(begun.filter(([, , layer]) => layer === undefined)).toEqual([]);
  const later = globSync("**/*.{ts,tsx}", { cwd: SOURCE })
    .filter((file) => !/\.test\.|ui\/faces|^main\.tsx$|gesture/.test(file))
    .flatMap((file) => {
      const sheets = readFileSync(`${SOURCE}${file}`, "utf-8").matchAll(/^import "(\..*\.css)";$/gm);
      return [...sheets].map(([, path]) => new URL(path ?? "", `file:///src/${file}`).pathname);
    });
  expect(later.length).toBeGreaterThan(30);
  expect(later.filter((path) => layerOf(path) === undefined)).toEqual([]);
});

test("the order of the layers comes before every sheet", () => {
  expect(readFileSync(`${SOURCE}main.tsx`, "utf-8")).toMatch(/^(?:\/\/.*\n)*import "\.\/shell\/index\.css";/);
});
