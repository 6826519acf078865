/** What a browser shows of the page before it is installed: two pictures of the documentation. */
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

const PICTURES = {
  "screenshots/desk.png": new URL("../../docs/pictures/fleet.png", import.meta.url),
  "screenshots/phone.png": new URL("../../docs/pictures/phone-fleet.png", import.meta.url),
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
