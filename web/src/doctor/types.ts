/** The doctor's report (protocol-doctor). */
import type { Tool } from "../api/types.ts";

export type { Doctor as Report, Tool } from "../api/types.ts";
export type Category = Tool["category"];
export type Status = Tool["status"];
