/** Each component imports, itself or by what it imports, the sheets that style its classes. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

/** What is loaded together with a file: types and `import()` are not. */
const TOGETHER = /^(?:import|export)\s(?!type\b)[^;"]*?"(\.[^"]+)";|^@import "(\.[^"]+)"[^;]*;/gm;
const LATER = /\bimport\(\s*"(\.[^"]+)"/g;
const CLASSES = /\bclass=(?:"([^"]+)"|\{`([^`]+)`\})/g;

type Sources = ReadonlyMap<string, string>;

function findTargets(file: string, text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, first, second]) =>
    join(dirname(file), (first ?? second ?? "").replace(/\?.*$/, "")),
  );
}

/** @returns the files that are there as soon as `start` is. */
function listLoaded(sources: Sources, start: string): Set<string> {
  const loaded = new Set<string>();
  const ahead = [start];
  for (let file = ahead.pop(); file !== undefined; file = ahead.pop()) {
    const text = sources.get(file);
    if (text === undefined || loaded.has(file)) continue;
    loaded.add(file);
    ahead.push(...findTargets(file, text, TOGETHER));
  }
  return loaded;
}

/** @returns the names of the classes in a sheet. */
function listStyled(sheet: string): string[] {
  const rules = sheet.replace(/\/\*[^]*?\*\//g, "");
  return [...rules.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name]) => name ?? "");
}

/** @returns the names of the classes of a component, without those that are computed. */
function listUsed(component: string): string[] {
  return [...component.matchAll(CLASSES)].flatMap(([, fixed, mixed]) =>
    (fixed ?? (mixed ?? "").replace(/\S*\$\{[^}]*\}\S*/g, " ")).split(/\s+/).filter((name) => name !== ""),
  );
}

/** @returns each class that has a sheet, but none that is there with the component, as `file: class`. */
function findUnstyled(sources: Sources, main: string): string[] {
  const sheets = [...sources].filter(([file]) => file.endsWith(".css"));
  const styled = new Map(sheets.map(([file, text]) => [file, new Set(listStyled(text))]));
  const known = new Set([...styled.values()].flatMap((names) => [...names]));
  const first = listLoaded(sources, main);
  const starts = [...sources].flatMap(([file, text]) => findTargets(file, text, LATER));
  const found = [main, ...starts].flatMap((start) => {
    const loaded = listLoaded(sources, start);
    const names = new Set([...loaded, ...first].flatMap((file) => [...(styled.get(file) ?? [])]));
    return [...loaded]
      .filter((file) => file.endsWith(".tsx") && (start === main || !first.has(file)))
      .flatMap((file) =>
        listUsed(sources.get(file) ?? "")
          .filter((name) => known.has(name) && !names.has(name))
          .map((name) => `${file}: ${name}`),
      );
  });
  return [...new Set(found)].toSorted();
}

describe("classes", () => {
  it("have their styles wherever their component is shown", () => {
    const files = globSync("**/*.{ts,tsx,css}", { cwd: import.meta.dirname });
    const own = files.filter((file) => !file.includes(".test."));
    const sources = new Map(own.map((file) => [file, readFileSync(join(import.meta.dirname, file), "utf8")]));
    expect(listLoaded(sources, "main.tsx").size).toBeGreaterThan(100);
    expect(findUnstyled(sources, "main.tsx")).toEqual([]);
  });

  it("are found without the sheet of another page", () => {
    const sources = new Map([
      ["main.tsx", ["./page.tsx", "./other.tsx"].map((file) => `void import("${file}");`).join("\n")],
      ["page.tsx", 'import { Part } from "./part.tsx";\nimport "./page.css";'],
      ["other.tsx", 'import type { Page } from "./page.tsx";\nimport { Part } from "./part.tsx";'],
      ["part.tsx", '<p class="part unknown"><i class={`mark is-${state}`} /></p>'],
      ["page.css", "/* .unknown */ .part > .mark:hover {}"],
    ]);
    expect(findUnstyled(sources, "main.tsx")).toEqual(["part.tsx: mark", "part.tsx: part"]);
    sources.set("part.tsx", `import "./page.css";\n${sources.get("part.tsx")}`);
    expect(findUnstyled(sources, "main.tsx")).toEqual([]);
  });
});
