/** Puts each style sheet into the cascade layer of its folder, whichever order the sheets come in. */
import type { Plugin } from "vite";

/** What the sheets of a folder of `src` belong to; `shell/index.css` has the order of the layers. */
const LAYER = /\/src\/(ui|features|shell)\/(?!index\.css|styles\/|faces\/).*\.css$/;

/** The sheets of a page that is first opened later; those that the page begins with name their layer. */
export function layerOf(id: string): string | undefined {
  if (/\/src\/ui\/styles\/(?:dialog|forms|pages|records)\.css$/.test(id)) return "ui";
  return LAYER.exec(id)?.[1];
}

export function cssLayers(): Plugin {
  return {
    name: "css-layers",
    enforce: "pre",
    transform(code, id) {
      const layer = layerOf(id);
      return layer === undefined ? null : { code: `@layer ${layer} {\n${code}\n}\n`, map: null };
    },
  };
}
