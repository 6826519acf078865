/** Every character that recorded agents draw with, as far as the face has it, is in a part that is shipped. */
import { readdirSync, readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";

const MODULES = new URL("../../../node_modules/", import.meta.url);
const FRAMES = new URL("../../../../tests/frames/", import.meta.url);
/** The whole of it, nothing taken away. */
const UPSTREAM = "jetbrains-mono/fonts/webfonts/JetBrainsMono-Regular.woff2";

/** Places in the list of tables that WOFF2 knows by number, of those that are read or stored otherwise. */
const CMAP = 0;
const [GLYF, LOCA] = [10, 11];
const UNKNOWN = 63;
/** Of a table that is stored as it is: `glyf` and `loca` are not, without this. */
const AS_IT_IS = 3;

class Reader {
  at: number;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.bytes.readUInt8(this.at++);
  }

  /** UIntBase128: seven bits a byte, the highest first. */
  number(): number {
    let value = 0;
    for (;;) {
      const byte = this.byte();
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  }
}

/** The table of characters; the head has 48 bytes, and what it lists is compressed as one. */
function cmapOf(file: Buffer): Buffer {
  const reader = new Reader(file, 48);
  let [from, found] = [0, undefined as [number, number] | undefined];
  for (let left = file.readUInt16BE(12); left > 0; left--) {
    const flags = reader.byte();
    const tag = flags & 63;
    if (tag === UNKNOWN) reader.at += 4;
    const whole = reader.number();
    const changed = tag === GLYF || tag === LOCA ? flags >> 6 !== AS_IT_IS : flags >> 6 !== 0;
    const length = changed ? reader.number() : whole;
    if (tag === CMAP) found = [from, length];
    from += length;
  }
  const all = brotliDecompressSync(file.subarray(reader.at, reader.at + file.readUInt32BE(20)));
  if (!found) throw new Error("no table of characters");
  return all.subarray(found[0], found[0] + found[1]);
}

/** Of the subtable for the basic plane (format 4): ranges, and what is added to get a glyph. */
function charactersOf(path: string): Set<number> {
  const cmap = cmapOf(readFileSync(new URL(path, MODULES)));
  const tables = Array.from({ length: cmap.readUInt16BE(2) }, (_, at) => cmap.readUInt32BE(8 + at * 8));
  const start = tables.find((at) => cmap.readUInt16BE(at) === 4);
  if (start === undefined) throw new Error(`${path}: no subtable of format 4`);
  const twice = cmap.readUInt16BE(start + 6);
  const found = new Set<number>();
  for (let at = 0; at < twice; at += 2) {
    const last = cmap.readUInt16BE(start + 14 + at);
    const first = cmap.readUInt16BE(start + 16 + twice + at);
    const delta = cmap.readUInt16BE(start + 16 + 2 * twice + at);
    const offsetAt = start + 16 + 3 * twice + at;
    const offset = cmap.readUInt16BE(offsetAt);
    for (let code = first; code <= last && code < 0xffff; code++) {
      const glyph =
        offset === 0 ? (code + delta) & 0xffff : cmap.readUInt16BE(offsetAt + offset + 2 * (code - first));
      if (glyph !== 0) found.add(code);
    }
  }
  return found;
}

function inRanges(text: string): (code: number) => boolean {
  const ranges = [...text.matchAll(/U\+([0-9A-F]+)(?:-([0-9A-F]+))?/gi)].map(([, first, last]) => [
    parseInt(first ?? "", 16),
    parseInt(last ?? first ?? "", 16),
  ]);
  return (code) => ranges.some(([first = 0, last = 0]) => first <= code && code <= last);
}

/** What each part of the sheet shows: what its file has, within what is declared. */
function shipped(): Set<number> {
  const sheet = readFileSync(new URL("./jetbrainsmono.css", import.meta.url), "utf-8");
  const parts = sheet.split("@font-face").slice(1);
  return new Set(
    parts.flatMap((part) => {
      const file = /url\("([^"]+)"\)/.exec(part)?.[1] ?? "";
      return [...charactersOf(file)].filter(inRanges(/unicode-range:([^;]+)/i.exec(part)?.[1] ?? ""));
    }),
  );
}

function drawn(): Set<string> {
  const files = readdirSync(FRAMES, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((each) => each.isFile() && !/\.(py|rst|pyc)$/.test(each.name))
    .map((each) => readFileSync(`${each.parentPath}/${each.name}`, "utf-8"));
  return new Set(texts.flatMap((text) => [...new Set(text)]).filter((each) => each > "\x7f"));
}

test("no character that agents draw is left to another face, where this one has it", () => {
  const [upstream, here] = [charactersOf(UPSTREAM), shipped()];
  const characters = [...drawn()];
  expect(characters).toEqual(expect.arrayContaining(["─", "╭", "→", "●", "❯", "⎿"]));
  const had = characters.filter((each) => upstream.has(each.codePointAt(0) ?? 0));
  expect(had.length).toBeGreaterThan(40);
  expect(had.filter((each) => !here.has(each.codePointAt(0) ?? 0))).toEqual([]);
});
