/** A class belongs to one feature, or to the parts that all use: two looks of one name would mix. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SOURCE = new URL("../../", import.meta.url).pathname;

/** Colours that are taken away concern parts of every feature. */
const FORCED = "ui/styles/forced.css";

const ownerOf = (file: string): string => /^features\/[^/]+|^\w+/.exec(file)?.[0] ?? file;

/** @returns the classes that a sheet gives a look to wherever they stand. */
function listOwnClasses(css: string): string[] {
  const selectors = [...css.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{};]+)\{/g)];
  const each = selectors
    .flatMap(([, found]) => (found ?? "").replaceAll(/\([^()]*\)/g, "").split(","))
    .map((one) => one.trim());
  return each.flatMap((one) => /^\.([\w-]+)$/.exec(one)?.[1] ?? []);
}

function readOwners(): Map<string, Set<string>> {
  const owners = new Map<string, Set<string>>();
  for (const file of globSync("**/*.css", { cwd: SOURCE }))
    for (const name of file === FORCED ? [] : listOwnClasses(readFileSync(`${SOURCE}${file}`, "utf-8")))
      owners.set(name, (owners.get(name) ?? new Set()).add(ownerOf(file)));
  return owners;
}

test("classes have one owner", () => {
  const owners = [...readOwners()];
  expect(owners.length).toBeGreaterThan(300);
  const shared = owners.filter(
    ([, found]) => found.size > 1 && [...found].some((each) => each.includes("/")),
  );
  expect(shared.map(([name, found]) => `${name}: ${[...found].toSorted().join(", ")}`)).toEqual([]);
});

test("selectors are read whatever stands around them", () => {
  const css =
    ".a {} :is(.x, .y) .z {} /* .b {} */ .c .d, .e { x: 1 } @media (min-width: 1px) { .f { x: 1 } .g[h] {} }";
  expect(listOwnClasses(css)).toEqual(["a", "e", "f"]);
});
