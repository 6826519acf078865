/** The layers of the page: a file imports from its own layer and from those below, and in no circle. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

/** From the lowest to the highest. Files beside the folders, such as `main.tsx`, belong to the highest. */
const LAYERS = ["lib", "api", "store", "ui", "features", "shell"];
const TOP = LAYERS.length - 1;

/** Imports and exports from a file, types included, `import()` and the `@import` of a style sheet. */
const IMPORT =
  /^(?:import|export)\s[^;"]*?"(\.[^"]+)";|\bimport\(\s*"(\.[^"]+)"\s*,?\s*\)|^@import "(\.[^"]+)"[^;]*;/gm;

type Graph = ReadonlyMap<string, readonly string[]>;

/** @returns the files of one circle, the first one again at its end; empty where there is none. */
function findCircle(graph: Graph): string[] {
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (file: string): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return [];
    way.push(file);
    for (const next of graph.get(file) ?? []) {
      const found = walk(next);
      if (found.length > 0) return found;
    }
    way.pop();
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const found = walk(file);
    if (found.length > 0) return found;
  }
  return [];
}

function layerOf(file: string): number {
  const layer = LAYERS.indexOf(file.split("/")[0] ?? "");
  return layer < 0 ? TOP : layer;
}

/** @returns each import from a higher layer, as `file imports file`. */
function listUpwardImports(graph: Graph): string[] {
  return [...graph].flatMap(([file, targets]) =>
    targets.filter((target) => layerOf(target) > layerOf(file)).map((target) => `${file} imports ${target}`),
  );
}

/** @param text the source of `file`; `?url` and the like are no part of a file's name. */
function parseImports(file: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, direct, lazy, sheet]) =>
    join(dirname(file), (direct ?? lazy ?? sheet ?? "").replace(/\?.*$/, "")),
  );
}

function readImports(): Graph {
  // The lines that this file reads below look like imports.
  const sources = globSync("**/*.{ts,tsx,css}", { cwd: import.meta.dirname }).filter(
    (file) => file !== basename(import.meta.filename),
  );
  return new Map(
    sources.map((file) => [file, parseImports(file, readFileSync(join(import.meta.dirname, file), "utf8"))]),
  );
}

describe("imports", () => {
  const graph = readImports();

  it("are read from every file", () => {
    expect(graph.size).toBeGreaterThan(400);
    expect(graph.get("features/terminal/view.ts")).toContain("ui/pages/openpanels.ts");
    expect(graph.get("shell/features.ts")).toContain("features/files/FilesPage.tsx");
    expect(graph.get("features/voice/microphone.ts")).toContain("features/voice/capture.worklet.ts");
    expect(graph.get("shell/index.css")).toContain("ui/styles/tokens.css");
  });

  it("lead to files that exist", () => {
    const missing = [...graph].flatMap(([file, targets]) =>
      targets.filter((target) => !graph.has(target)).map((target) => `${file} imports ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it("lead to the same layer or a lower one", () => {
    const folders = new Set(
      [...graph.keys()].filter((file) => file.includes("/")).map((file) => file.split("/")[0]),
    );
    expect([...folders].toSorted()).toEqual(LAYERS.toSorted());
    expect(listUpwardImports(graph)).toEqual([]);
  });

  it("lead in no circle", () => {
    expect(findCircle(graph)).toEqual([]);
  });

  it("are found whatever their form", () => {
    const text = [
      'import { a } from "../ui/a.ts";',
      'import type {\n  B,\n} from "../ui/b.ts";',
      'import "../ui/c.css";',
      'export { d } from "../ui/d.ts";',
      'const e = await import("../ui/e.ts");',
      'let f: typeof import("../ui/f.ts");',
      '@import "../ui/g.css" layer(ui);',
      'import url from "../ui/h.ts?worker&url";',
      'import { signal } from "@preact/signals";',
    ].join("\n");
    const found = parseImports("store/x.ts", text);
    const names = ["a.ts", "b.ts", "c.css", "d.ts", "e.ts", "f.ts", "g.css", "h.ts"];
    expect(found.toSorted()).toEqual(names.map((name) => `ui/${name}`));
    expect(listUpwardImports(new Map([["store/x.ts", found]]))).toContain("store/x.ts imports ui/a.ts");
    expect(listUpwardImports(new Map([["shell/x.ts", ["main.tsx"]]]))).toEqual([]);
    expect(listUpwardImports(new Map([["features/x.ts", ["main.tsx"]]]))).toHaveLength(1);
  });

  it("are followed all the way", () => {
    const circular = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["b"]],
    ]);
    expect(findCircle(circular)).toEqual(["b", "c", "b"]);
  });
});
