/** The file routes (protocol-files). */
import { request } from "../../api/client.ts";
import { sessionPath } from "../../api/paths.ts";
import type { Content, Saved, Tree } from "./types.ts";

/** Lines that one answer holds at most (protocol-files). */
export const LINES_MAX = 10_000;

export interface TreeOptions {
  depth: number;
  hidden: boolean;
  signal: AbortSignal;
}

export function readTree(id: string, path: string, { depth, hidden, signal }: TreeOptions): Promise<Tree> {
  const query = new URLSearchParams({ path, depth: String(depth), showHidden: hidden ? "1" : "0" });
  return request("GET", sessionPath(id, `/files?${query}`), { signal });
}

/** @param reveal an environment file is shown, and the audit log tells of it. */
export function readContent(
  id: string,
  path: string,
  reveal: boolean,
  signal?: AbortSignal,
): Promise<Content> {
  const query = new URLSearchParams({ path, lines: String(LINES_MAX) });
  if (reveal) query.set("reveal", "1");
  return request("GET", sessionPath(id, `/file-content?${query}`), signal ? { signal } : {});
}

/** @param baseHash of what was edited; another file there by now is a 409. */
export const saveContent = (id: string, path: string, content: string, baseHash: string) =>
  request<Saved>("PUT", sessionPath(id, "/file-content"), { body: { path, content, baseHash } });

/** @returns an address that the browser can fetch by itself, without the page's key. */
export async function makeLink(id: string, path: string, download: boolean): Promise<string> {
  const body = { path, download };
  const { url } = await request<{ url: string }>("POST", sessionPath(id, "/file-link"), { body });
  return url.replace(/^\//, "");
}
