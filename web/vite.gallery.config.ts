import { defineConfig } from "vite";

/** The gallery of components (`gallery/`), which is no part of the page. */
export default defineConfig({
  root: "gallery",
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { target: "es2022", outDir: "../dist/gallery", emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  server: { host: "127.0.0.1", open: true },
});
