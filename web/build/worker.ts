/** Builds the worker's parts into one classic script beside `sw.js`, which can load nothing else. */
import { build, type Plugin, type ResolvedConfig } from "vite";

export function workerParts(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "worker-parts",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    // Before the files beside it are compressed.
    async writeBundle() {
      await build({
        configFile: false,
        root: config.root,
        publicDir: false,
        logLevel: "warn",
        build: {
          target: "es2022",
          outDir: config.build.outDir,
          emptyOutDir: false,
          lib: {
            entry: "src/features/worker/main.ts",
            formats: ["iife"],
            name: "parts",
            fileName: () => "sw-parts.js",
          },
        },
      });
    },
  };
}
