/** The doctor's report (protocol-doctor). */
import type { ToolResponse } from "../../api/types.ts";

export type { DoctorResponse as Report, ToolResponse } from "../../api/types.ts";
export type Category = ToolResponse["category"];
export type Status = ToolResponse["status"];
