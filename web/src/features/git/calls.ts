/** The git routes (protocol-git). */
import { request } from "../../api/client.ts";
import { sessionPath } from "../../api/paths.ts";
import type { Chosen, GitDiffResponse, GitStatusResponse } from "./types.ts";

export interface StatusOptions {
  /** Not from the service's caches. */
  fresh?: boolean;
  /** Seconds that one git command may run; the service's own bound where absent. */
  timeout?: number;
  signal?: AbortSignal;
}

export function readStatus(id: string, options: StatusOptions = {}): Promise<GitStatusResponse> {
  const query = new URLSearchParams();
  if (options.fresh) query.set("fresh", "1");
  if (options.timeout !== undefined) query.set("timeout", String(options.timeout));
  const rest = query.size > 0 ? `/git-status?${query}` : "/git-status";
  return request("GET", sessionPath(id, rest), options.signal ? { signal: options.signal } : {});
}

export function readDiff(id: string, chosen: Chosen, signal: AbortSignal): Promise<GitDiffResponse> {
  const query = new URLSearchParams({ repo: chosen.repo, path: chosen.path, kind: chosen.kind });
  return request("GET", sessionPath(id, `/git-diff?${query}`), { signal });
}
