/** Requests for files (protocol-files). */
import { useRead } from "../../store/resource.ts";
import { serviceUrl } from "../../api/paths.ts";
import { showError } from "../../store/toasts.ts";
import { api } from "../../api/client.ts";

export async function downloadFile(id: string, path: string): Promise<void> {
  try {
    const link = document.createElement("a");
    link.href = serviceUrl(await makeLink(id, path, true), document.baseURI);
    link.download = "";
    link.click();
  } catch (error) {
    showError("Couldn't download the file", error);
  }
}

/** Lines that one answer holds at most (protocol-files). */
const LINES_MAX = 10_000;

interface TreeOptions {
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
async function makeLink(id: string, path: string, download: boolean): Promise<string> {
  const { url } = await api.post("/api/sessions/{id}/file-link", { path: { id }, body: { path, download } });
  return url.replace(/^\//, "");
}

/** @returns an address of a file that the browser can fetch by itself. */
export function useLink({ sessionId, path }: { sessionId: string; path: string }) {
  const link = async () => serviceUrl(await makeLink(sessionId, path, false), document.baseURI);
  const { data: url, problem } = useRead(link, [sessionId, path]);
  return { url, problem };
}
