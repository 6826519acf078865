/** Puts the licences of what is shipped as it is (fonts) beside the page. */
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

const FONTS = ["@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"];
/** A package that has more of the same face, and of its licence only a link. */
const ALSO: Record<string, string> = { "@fontsource-variable/jetbrains-mono": ", jetbrains-mono" };

export function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    async generateBundle() {
      const texts = await Promise.all(
        FONTS.map((name) => readFile(new URL(`../node_modules/${name}/LICENSE`, import.meta.url), "utf8")),
      );
      const source = texts
        .map((text, at) => `${FONTS[at]}${ALSO[FONTS[at] ?? ""] ?? ""}\n\n${text.trim()}\n`)
        .join("\n\n");
      this.emitFile({ type: "asset", fileName: "fonts-licenses.txt", source });
    },
  };
}
