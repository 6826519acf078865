/** Holds the first paint until the small entry module has set the stored theme: no flash. */
import type { Plugin } from "vite";

export function blockFirstPaint(): Plugin {
  return {
    name: "block-first-paint",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
  };
}
