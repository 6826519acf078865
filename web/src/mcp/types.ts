/** The sync of MCP servers (protocol-mcp-sync). */

export type Status = "ok" | "absent" | "skipped" | "unreadable" | "failed";

export interface Target {
  id: string;
  label: string;
  file: string;
  status: Status;
  error?: string;
  /** Names that it had. */
  servers: string[];
  /** Names that it was given, or would be. */
  added: string[];
  /** Names that its format cannot express. */
  skipped: string[];
}

export interface SyncResult {
  /** False for the dry run. */
  applied: boolean;
  targets: Target[];
  conflicts: string[];
  disabled: string[];
  unsupported: string[];
}
