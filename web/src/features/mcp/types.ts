/** The sync of MCP servers (protocol-mcp-sync). */
import type { Target } from "../../api/types.ts";

export type { Sync as SyncResult, Target } from "../../api/types.ts";
export type Status = Target["status"];
