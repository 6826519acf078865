import type { Session } from "../../api/types.ts";
import { approvalOf, isFinished, needsYou } from "../approvals/state.ts";
import { type StatusDescription, describeStatus } from "./statusdescription.ts";

/** The session's look and its reason as they are now; reads signals. */
export const getCurrentStatus = (session: Session): StatusDescription =>
  describeStatus(session, needsYou(session.id) || isFinished(session.id), approvalOf(session.id));
