/** Words for the file with which a repository brings checks. */
import type { CheckFileResponse } from "../../api/types.ts";

/** @returns one line for the state of the file; undefined where there is nothing to say. */
export function describeFile({ state, approvedHash }: CheckFileResponse): string | undefined {
  switch (state) {
    case "unapproved":
      return "This repository brings checks";
    case "approved":
      return "The checks of this repository are used";
    case "changed":
      return "This repository changed its checks; they are not used";
    case "invalid":
      return "This repository brings checks that cannot be used";
    default:
      return approvedHash === undefined ? undefined : "This repository brings its checks no more";
  }
}

export function describeFailurePolicy({ onFailure, maxAttempts = 0 }: CheckFileResponse): string {
  if (onFailure !== "send_back" || maxAttempts === 0) return "When one fails, you are told.";
  return `When one fails, the agent is asked to repair it, ${maxAttempts === 1 ? "once" : `up to ${maxAttempts} times`}.`;
}
