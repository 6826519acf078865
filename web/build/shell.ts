/** Tells the service worker which files the page begins with, and under which version. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin, Rollup } from "vite";

/** The page itself, where it is given to everybody, signed in or not. */
const PAGE = "login";

const NAMED = /(?:src|href)="\.\/(assets\/[^"]+)"/g;

const textOf = (page: Rollup.OutputBundle[string] | undefined): string =>
  page?.type === "asset" ? page.source.toString() : "";

/** What is of use without a network, though the page loads it when it is first opened. */
const LATER =
  /\/src\/(?:shell\/(?:Panel|Drawer)|ui\/AskDialog|features\/(?:palette\/Palette|touch\/scroll))\.tsx?$|\/@xterm\/addon-search\//;

/** What the page needs to run: the files that it names, the command palette, the panel, the drawer, and what these import. */
export function shellOf(bundle: Rollup.OutputBundle): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const file = bundle[name];
    if (found.has(name) || !file) return;
    found.add(name);
    if (file.type !== "chunk") return;
    file.imports.forEach(add);
    file.viteMetadata?.importedCss.forEach(add);
  };
  for (const [, name] of textOf(bundle["index.html"]).matchAll(NAMED)) add(name ?? "");
  for (const file of Object.values(bundle))
    if (file.type === "chunk" && file.moduleIds.some((id) => LATER.test(id))) add(file.fileName);
  return [PAGE, ...found];
}

/** Another release has other names of files, another page or another worker. */
export function versionOf(bundle: Rollup.OutputBundle, worker: string): string {
  const hash = createHash("sha256").update(worker).update(textOf(bundle["index.html"]));
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
