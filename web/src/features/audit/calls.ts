/** Who did what (the audit log). */
import { request } from "../../api/client.ts";
import type { AuditPageResponse } from "../../api/types.ts";

export type { AuditPageResponse as AuditPage, AuditEntryResponse } from "../../api/types.ts";

export const readAudit = (query: URLSearchParams, signal?: AbortSignal) =>
  request<AuditPageResponse>("GET", `api/admin/audit?${query.toString()}`, signal ? { signal } : {});
