/** What pdf.js fetches while it reads: tables of letters, fonts that need not be in a file, decoders. */
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin, ResolvedConfig } from "vite";

/** Folders of the package, and what is taken of each: no WebAssembly, which the page may not run. */
const PARTS: Record<string, RegExp> = {
  cmaps: /^LICENSE|\.bcmap$/,
  standard_fonts: /^LICENSE|\.(pfb|ttf)$/,
  wasm: /^LICENSE_(?!.*QUICKJS)|_nowasm_fallback\.js$/,
};

export function pdfParts(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "pdf-parts",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    // Before the files are compressed.
    async writeBundle() {
      const from = join(config.root, "node_modules/pdfjs-dist");
      const to = join(config.build.outDir, "pdf");
      await mkdir(to, { recursive: true });
      await copyFile(join(from, "LICENSE"), join(to, "LICENSE"));
      await Promise.all(Object.entries(PARTS).map(([name, wanted]) => copyPart(from, to, name, wanted)));
    },
  };
}

async function copyPart(from: string, to: string, name: string, wanted: RegExp): Promise<void> {
  const names = await readdir(join(from, name));
  await mkdir(join(to, name), { recursive: true });
  await Promise.all(
    names
      .filter((each) => wanted.test(each))
      .map((each) => copyFile(join(from, name, each), join(to, name, each))),
  );
}
