/** The route of suggestions (protocol-suggestions). */
import { request } from "../api/client.ts";
import { sessionPath } from "../api/paths.ts";
import type { Suggestions } from "../api/types.ts";

export const suggest = (
  id: string,
  body: { steer?: string; rejected?: readonly string[] },
  signal: AbortSignal,
) =>
  request<Suggestions>("POST", sessionPath(id, "/readmymind"), {
    body,
    signal,
  });
