import type { Session } from "../api/types.ts";
import { approvalOf, needsYou } from "../approvals/state.ts";
import { type Standing, standingOf } from "./reason.ts";

/** The session's look and its reason as they are now; reads signals. */
export const standing = (session: Session): Standing =>
  standingOf(session, needsYou(session.id), approvalOf(session.id));
