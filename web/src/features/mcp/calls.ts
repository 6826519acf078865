/** The routes of the sync (protocol-mcp-sync). */
import { request } from "../../api/client.ts";
import type { SyncResult } from "./types.ts";

export const previewSync = () => request<SyncResult>("GET", "api/mcp-sync");

export const applySync = () => request<SyncResult>("POST", "api/mcp-sync");
