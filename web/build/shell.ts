/** Tells the service worker which files the page begins with, and under which version. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin, Rollup } from "vite";

/** The page itself, where it is given to everybody, signed in or not. */
const PAGE = "login";

/** What the entry needs to run: its own code, what that imports, and their styles. */
export function shellOf(bundle: Rollup.OutputBundle): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const chunk = bundle[name];
    if (found.has(name) || chunk?.type !== "chunk") return;
    found.add(name);
    chunk.viteMetadata?.importedCss.forEach((css) => found.add(css));
    chunk.imports.forEach(add);
  };
  for (const each of Object.values(bundle)) if (each.type === "chunk" && each.isEntry) add(each.fileName);
  return [PAGE, ...found];
}

/** Another release has other names of files, another page or another worker. */
export function versionOf(bundle: Rollup.OutputBundle, worker: string): string {
  const page = bundle["index.html"];
  const hash = createHash("sha256").update(worker);
  hash.update(page?.type === "asset" ? page.source : "");
  for (const name of Object.keys(bundle).toSorted()) hash.update(`\n${name}`);
  return hash.digest("hex").slice(0, 12);
}

export function shell(): Plugin {
  return {
    name: "shell",
    apply: "build",
    async writeBundle({ dir }, bundle) {
      const path = join(dir ?? ".", "sw.js");
      const source = await readFile(path, "utf8");
      const filled = source
        .replace('const VERSION = "dev";', `const VERSION = "${versionOf(bundle, source)}";`)
        .replace("const SHELL = [];", `const SHELL = ${JSON.stringify(shellOf(bundle))};`);
      await writeFile(path, filled);
    },
  };
}
