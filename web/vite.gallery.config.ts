import { defineConfig } from "vite";
import { cssLayers } from "./build/csslayers.ts";

/** The gallery of components (`gallery/`), which is no part of the page. */
export default defineConfig({
  root: "gallery",
  base: "./",
  define: { PAGE_VERSION: '"0"' },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { target: "es2022", outDir: "../dist/gallery", emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  plugins: [cssLayers()],
  server: { host: "127.0.0.1", open: true },
});
