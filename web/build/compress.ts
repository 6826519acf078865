/** Writes `.br` and `.gz` beside each text asset, so that the server never compresses. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin, ResolvedConfig } from "vite";

const TEXT = /\.(js|css|html|svg|json|webmanifest|txt|map)$/;
/** Below this many bytes a compressed copy saves no packet. */
const SMALLEST = 1024;

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

async function compressFile(path: string): Promise<void> {
  const plain = await readFile(path);
  if (plain.length < SMALLEST) return;
  const [br, gz] = await Promise.all([
    asBrotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    asGzip(plain, { level: 9 }),
  ]);
  if (br.length < plain.length) await writeFile(`${path}.br`, br);
  if (gz.length < plain.length) await writeFile(`${path}.gz`, gz);
}

export function compress(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "compress",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    async closeBundle() {
      const folder = config.build.outDir;
      const names = await readdir(folder, { recursive: true });
      const texts = names.filter((name) => TEXT.test(name));
      await Promise.all(texts.map((name) => compressFile(join(folder, name))));
    },
  };
}
