/**
 * What another app shared with this one: kept in the browser until the person has decided what
 * becomes of it. Any page can send a browser here, so nothing of it goes anywhere by itself.
 */

import { getCacheName } from "./sharedcache.ts";

export const TEXT_MOST = 20_000;
export const FILES_MOST = 5;
/** Bytes of one picture. */
export const FILE_MOST = 25e6;

export interface Shared {
  text: string;
  files: File[];
}

const NAMES = ["title", "text", "url"] as const;

/** Without what a terminal would take for a key, and each thing once. */
function textOf(form: FormData): string {
  const words = NAMES.map((name) => form.get(name)).filter((each) => typeof each === "string");
  const clean = words.map((each) =>
    each.replace(/[\p{Cc}\p{Cf}]/gu, (c) => (c === "\n" || c === "\t" ? c : "")).trim(),
  );
  // Many apps put the address into the text as well, and the text into the title.
  const once = clean.filter(
    (each, at) => each !== "" && !clean.slice(0, at).some((other) => other.includes(each)),
  );
  return once.join("\n").slice(0, TEXT_MOST);
}

/** Pictures alone: the type is the sender's word, and what it is used for is a preview. */
export function sharedOf(form: FormData): Shared {
  const files = form
    .getAll("files")
    .filter((each): each is File => each instanceof File)
    .filter((file) => /^image\/[a-z0-9.+-]+$/.test(file.type) && file.size <= FILE_MOST);
  return { text: textOf(form), files: files.slice(0, FILES_MOST) };
}

const place = (scope: string, name: string): string => new URL(`shared/${name}`, scope).href;

/** The newest takes the place of what was there. */
export async function keepShared(scope: string, { text, files }: Shared): Promise<void> {
  await caches.delete(getCacheName(scope));
  const cache = await caches.open(getCacheName(scope));
  await cache.put(place(scope, "text"), new Response(text));
  for (const [at, file] of files.entries()) {
    const headers = { "Content-Type": file.type, "X-Name": encodeURIComponent(file.name.slice(0, 200)) };
    await cache.put(place(scope, `file-${at}`), new Response(file, { headers }));
  }
}

async function fileOf(answer: Response): Promise<File> {
  const name = decodeURIComponent(answer.headers.get("X-Name") ?? "picture");
  return new File([await answer.blob()], name, { type: answer.headers.get("Content-Type") ?? "" });
}

/** @returns undefined: nothing waits. */
export async function readShared(scope: string): Promise<Shared | undefined> {
  if (!("caches" in globalThis) || !(await caches.has(getCacheName(scope)))) return undefined;
  const cache = await caches.open(getCacheName(scope));
  const text = (await (await cache.match(place(scope, "text")))?.text()) ?? "";
  const files: File[] = [];
  for (let at = 0; at < FILES_MOST; at++) {
    const answer = await cache.match(place(scope, `file-${at}`));
    if (answer) files.push(await fileOf(answer));
  }
  return { text, files };
}
