/** Requests for files (protocol-files). */
import { api } from "../../api/client.ts";

/** Lines that one answer holds at most (protocol-files). */
export const LINES_MAX = 10_000;

export interface TreeOptions {
  depth: number;
  hidden: boolean;
  signal: AbortSignal;
}

export const readTree = (id: string, path: string, { depth, hidden, signal }: TreeOptions) =>
  api.get("/api/sessions/{id}/files", { path: { id }, query: { path, depth, showHidden: hidden }, signal });

const CONTENT = "/api/sessions/{id}/file-content";

/** @param reveal an environment file is shown, and the audit log tells of it. */
export const readContent = (id: string, path: string, reveal: boolean, signal?: AbortSignal) =>
  api.get(CONTENT, { path: { id }, query: { path, lines: LINES_MAX, reveal }, signal });

/** @param baseHash of what was edited; another file there by now is a 409. */
export const saveContent = (id: string, path: string, content: string, baseHash: string) =>
  api.put(CONTENT, { path: { id }, body: { path, content, baseHash } });

/** @returns an address that the browser can fetch by itself, without the page's key. */
export async function makeLink(id: string, path: string, download: boolean): Promise<string> {
  const { url } = await api.post("/api/sessions/{id}/file-link", { path: { id }, body: { path, download } });
  return url.replace(/^\//, "");
}
