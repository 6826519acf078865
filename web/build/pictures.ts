/** What a browser shows of the page before it is installed: the pictures of the README. */
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

const PICTURES = {
  "screenshots/desk.png": new URL("../../docs/screenshot.png", import.meta.url),
  "screenshots/phone.png": new URL("../../docs/screenshot-phone.png", import.meta.url),
};

export function pictures(): Plugin {
  return {
    name: "pictures",
    apply: "build",
    async generateBundle() {
      for (const [fileName, source] of Object.entries(PICTURES))
        this.emitFile({ type: "asset", fileName, source: await readFile(source) });
    },
  };
}
