/** The doctor's report (protocol-doctor). */

export type Category = "core" | "office" | "other";
export type Status = "ok" | "missing" | "outdated" | "skipped" | "error";

export interface Tool {
  id: string;
  label: string;
  category: Category;
  required: boolean;
  status: Status;
  /** The oldest version that will do. */
  needed?: string;
  version?: string;
  path?: string;
  installHint?: string;
  reason?: string;
}

export interface Report {
  platform: string;
  summary: Record<Status, number>;
  tools: Tool[];
}
