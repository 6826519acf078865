/** The overlay of gestures, built apart from the page: the service serves its folder only when told to. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin, type ResolvedConfig } from "vite";

/** What the smaller model needs, of the package that holds it. */
const MODEL = [
  "hands.js",
  "hands.binarypb",
  "hands_solution_packed_assets.data",
  "hands_solution_packed_assets_loader.js",
  "hands_solution_simd_wasm_bin.js",
  "hands_solution_simd_wasm_bin.wasm",
  "hand_landmark_lite.tflite",
];

export function gestureOverlay(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "gesture-overlay",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    closeBundle: {
      sequential: true,
      order: "pre",
      async handler() {
        const outDir = join(config.build.outDir, "gesture");
        await build({
          root: config.root,
          configFile: false,
          publicDir: false,
          logLevel: "warn",
          build: {
            target: "es2022",
            outDir,
            emptyOutDir: true,
            lib: {
              entry: join(config.root, "src/features/gesture/overlay.ts"),
              formats: ["es"],
              fileName: () => "overlay.js",
            },
            rolldownOptions: { output: { assetFileNames: "overlay[extname]" } },
          },
        });
        const from = join(config.root, "node_modules/@mediapipe/hands");
        await mkdir(join(outDir, "hands"), { recursive: true });
        await Promise.all(MODEL.map((name) => copyFile(join(from, name), join(outDir, "hands", name))));
      },
    },
  };
}
