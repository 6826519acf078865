/** Who did what (the audit log). */
import { request } from "../api/client.ts";

export interface Entry {
  seq: number;
  at: number;
  actor: string;
  method: string;
  address: string;
  action: string;
  target: string;
  detail: Record<string, unknown>;
}

export interface AuditPage {
  entries: Entry[];
  /** The `before` of the following page; absent on the last. */
  next?: number;
}

export const readAudit = (query: URLSearchParams, signal?: AbortSignal) =>
  request<AuditPage>("GET", `api/admin/audit?${query.toString()}`, signal ? { signal } : {});
