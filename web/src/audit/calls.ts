/** Who did what (the audit log). */
import { request } from "../api/client.ts";
import type { Audit } from "../api/types.ts";

export type { Audit as AuditPage, Entry } from "../api/types.ts";

export const readAudit = (query: URLSearchParams, signal?: AbortSignal) =>
  request<Audit>("GET", `api/admin/audit?${query.toString()}`, signal ? { signal } : {});
