/** The case routes (protocol-cases). */
import { request } from "../../api/client.ts";
import type { GitStatusResponse } from "../git/types.ts";
import type { Browsed, CaseResponse, Cloned, CloneBody, PrepareResponse } from "./types.ts";

const casePath = (name: string, rest = ""): string => `api/cases/${encodeURIComponent(name)}${rest}`;

export const listCases = () => request<CaseResponse[]>("GET", "api/cases");

/** @param path absent: a folder of the service's own. */
export const createCase = (name: string, path?: string) =>
  request<{ case: CaseResponse }>("POST", "api/cases", {
    body: path === undefined ? { name } : { name, path },
  });

export const linkCase = (name: string, path: string) =>
  request<{ case: CaseResponse }>("POST", "api/cases/link", { body: { name, path } });

/** @param remotePath absolute there, or below `~/`. */
export const linkRemote = (name: string, hostId: string, remotePath: string) =>
  request<{ case: CaseResponse }>("POST", "api/cases/remote-link", { body: { name, hostId, remotePath } });

/** A folder of the service's machine that the container of the case sees. */
export const linkContainer = (name: string, hostId: string, workspacePath: string) =>
  request<{ case: CaseResponse }>("POST", "api/cases/container-link", {
    body: { name, hostId, workspacePath },
  });

/** A folder of the service's own, with a container of the host `default`. */
export const createContainer = (name: string) =>
  request<{ case: CaseResponse }>("POST", "api/cases/container-create", { body: { name } });

export const readCaseGit = (name: string, signal: AbortSignal) =>
  request<GitStatusResponse>("GET", casePath(name, "/git-status"), { signal });

/** Answers when the clone is done, which goes on without the caller (protocol-clone). */
export const cloneCase = (body: CloneBody) => request<Cloned>("POST", "api/cases/clone", { body });

/** Fetches submodules and files of Git LFS in a shell; none where nothing is lacking (protocol-prepare). */
export const prepareCase = (name: string) => request<PrepareResponse>("POST", casePath(name, "/prepare"));

export const cancelClone = (name: string) =>
  request<unknown>("POST", `api/cases/clone/${encodeURIComponent(name)}/cancel`);

/** @param force also what is not committed or not pushed may go. */
export const removeCase = (name: string, force: boolean) =>
  request<unknown>("DELETE", casePath(name, force ? "?force=1" : ""));

/** @param path absent: home, or the workspace of who may see no more. */
export function browse(path: string | undefined, hidden: boolean, signal: AbortSignal): Promise<Browsed> {
  const query = new URLSearchParams();
  if (path !== undefined) query.set("path", path);
  if (hidden) query.set("showHidden", "1");
  const rest = query.size > 0 ? `?${query}` : "";
  return request("GET", `api/cases/browse${rest}`, { signal });
}
