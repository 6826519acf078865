/** Readable names of uploads: what is stored of a picture has a name that tells nothing of it. */
import { readStored, writeStored } from "../../lib/stored.ts";

const KEY = "tservice.uploads";
/** Names that this browser keeps; uploads themselves are kept for a week. */
const NAMES_MAX = 100;

/** What browsers call a picture of the clipboard, which has no name of its own. */
const NAMELESS = /^(?:|blob|image(?:\.\w+)?)$/i;

/** An upload in a prompt or a title, with the name that it is stored under (protocol-uploads). */
const UPLOAD =
  /@?\/?(?:[^\s/]+\/)*\.service-uploads\/(paste-\d+-[0-9a-f]+\.\w+|upload-\d+-[0-9a-f]+-([^\s/"'`]*[^\s/"'`.,:;?!)\]]))/g;

type Names = readonly (readonly [stored: string, name: string])[];

function readNames(): Names {
  try {
    const found: unknown = JSON.parse(readStored(KEY) ?? "[]");
    const isPair = (each: unknown): each is [string, string] =>
      Array.isArray(each) && typeof each[0] === "string" && typeof each[1] === "string";
    return Array.isArray(found) ? found.filter(isPair) : [];
  } catch {
    return [];
  }
}

/** The name of a file that is attached; a picture without one is the so manieth of its prompt. */
export function nameAttached(file: { name: string; type: string }, pictures: number): string {
  if (file.type.startsWith("image/") && NAMELESS.test(file.name)) return `Picture ${pictures + 1}`;
  return file.name;
}

/** Keep the name that a picture has on this page; other files are stored with their own. */
export function keepName(stored: string, name: string): void {
  if (stored.startsWith("paste-"))
    writeStored(KEY, JSON.stringify([...readNames(), [stored, name]].slice(-NAMES_MAX)));
}

export type Part = string | { name: string; path: string };

/**
 * Split a text where it names uploads.
 * @param folder the session's, which may have spaces in its path.
 * @returns the text between them as it is, and of each upload its name and path.
 */
export function splitUploads(text: string, folder?: string): Part[] {
  const short =
    folder === undefined ? text : text.replaceAll(`${folder}/.service-uploads/`, ".service-uploads/");
  const names = new Map(readNames());
  const parts: Part[] = [];
  let end = 0;
  let unnamed = 0;
  for (const found of short.matchAll(UPLOAD)) {
    const [path, stored = "", own] = found;
    const name = own ?? names.get(stored) ?? `Picture ${(unnamed += 1)}`;
    parts.push(short.slice(end, found.index), { name, path: path.replace(/^@/, "") });
    end = found.index + path.length;
  }
  parts.push(short.slice(end));
  return parts.filter((part) => part !== "");
}

/** @returns the text with each upload's name in brackets in the place of its path. */
export const nameUploads = (text: string, folder?: string): string =>
  splitUploads(text, folder)
    .map((part) => (typeof part === "string" ? part : `[${part.name}]`))
    .join("");
