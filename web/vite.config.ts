import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { blockFirstPaint } from "./build/blocking.ts";
import { compress } from "./build/compress.ts";
import { cssLayers } from "./build/csslayers.ts";
import { gestureOverlay } from "./build/gesture.ts";
import { licences } from "./build/licences.ts";
import { pdfParts } from "./build/pdf.ts";
import { pictures } from "./build/pictures.ts";
import { shell } from "./build/shell.ts";
import { describeWidths } from "./build/unicodewidths.ts";
import { workerParts } from "./build/worker.ts";

/** The mock or a real daemon that `npm run dev` talks to. */
const backend = process.env["TSERVICE_BACKEND"] ?? "http://127.0.0.1:8771";

const version = /__version__ = "(.+)"/.exec(readFileSync("../tservice/__init__.py", "utf8"))?.[1];

export default defineConfig({
  base: "./",
  define: {
    PAGE_VERSION: JSON.stringify(version),
    UNICODE_11_WIDTHS: JSON.stringify(describeWidths()),
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // With what each imports, in one file: on a slow line every further one waits for its turn.
        codeSplitting: {
          groups: [
            { name: "main", test: /src\/main\.tsx$/, priority: 2 },
            { name: "terminal", test: /src\/features\/terminal\/pool\.ts$/, priority: 1 },
            // A phone loads both at once.
            { name: "drawer", test: /src\/shell\/(?:Drawer\.tsx|pagesmenu\.ts)$/ },
          ],
        },
      },
    },
  },
  // The reader of PDF files imports what it needs.
  worker: { format: "es" },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": backend, "/ws": { target: backend, ws: true } },
  },
  plugins: [
    cssLayers(),
    blockFirstPaint(),
    gestureOverlay(),
    workerParts(),
    licences(),
    pdfParts(),
    pictures(),
    shell(),
    compress(),
  ],
});
