/** No file leans on itself by way of others, not even for a type or by code that is loaded later. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCES = join(import.meta.dirname, "..");
const IMPORT = /^(?:import|export)\s[^;"]*?"(\.[^"]+)";|\bimport\(\s*"(\.[^"]+)"\s*,?\s*\)/gm;

type Graph = ReadonlyMap<string, readonly string[]>;

/** @returns the files of one circle, the first one again at its end; empty where there is none. */
function circle(graph: Graph): string[] {
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

function imports(): Graph {
  const files = globSync("**/*.{ts,tsx}", { cwd: SOURCES }).filter((file) => !file.includes(".test."));
  const read = (file: string) => {
    const text = readFileSync(join(SOURCES, file), "utf8");
    return [...text.matchAll(IMPORT)].map(([, now, later]) => join(dirname(file), now ?? later ?? ""));
  };
  return new Map(files.map((file) => [file, read(file)]));
}

describe("imports", () => {
  it("lead in no circle", () => {
    const graph = imports();
    expect(graph.size).toBeGreaterThan(100);
    expect(graph.get(join("terminal", "view.ts"))).toContain(join("terminal", "openpanels.ts"));
    expect(graph.get(join("files", "page.ts"))).toContain(join("files", "FilesPage.tsx"));
    expect(circle(graph)).toEqual([]);
  });

  it("are followed all the way", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["b"]],
    ]);
    expect(circle(graph)).toEqual(["b", "c", "b"]);
  });
});
