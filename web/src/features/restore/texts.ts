/** What the page of sessions to restore says. */
import type { RestorableSessionResponse, RestoreOfferResponse, Told } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";

/** What will be there of one session. */
export function describeRestore(lost: RestorableSessionResponse, isShell: boolean): string {
  const what = isShell
    ? "a new shell in its folder"
    : lost.resumes
      ? "continues its conversation"
      : "starts a new conversation";
  return lost.scrollback ? `${what}, below its earlier output` : what;
}

const TROUBLES: Record<string, string> = {
  "already-live": "already running",
  "capacity-reached": "not restored: the session limit is reached",
  "workspace-missing": "not restored: its folder is missing or not responding",
  "workspace-forbidden": "not restored: you no longer have access to its folder",
  "agent-failed": "not restored: its program did not start or exited at once",
};

/** Why a session did not come back; undefined when it did, or was not tried.  An outcome of a later
 * service is told by its name. */
export function explainFailure(outcome: { outcome: string } | undefined): string | undefined {
  if (!outcome || outcome.outcome === "restored") return undefined;
  return TROUBLES[outcome.outcome] ?? `not restored: ${outcome.outcome}`;
}

const HOUR_MS = 3_600_000;

export function describeExpiry(expiresAt: number | null, now: number): string {
  if (expiresAt === null) return "";
  const hours = Math.round((expiresAt - now) / HOUR_MS);
  if (hours < 1) return "You can restore them for less than an hour.";
  return `You can restore them for another ${plural(hours, "hour")}.`;
}

/** @returns undefined while there is nothing to say. */
export function describeOffer(
  offer: RestoreOfferResponse | undefined,
  progress: Told["restore:progress"] | undefined,
): string | undefined {
  if (progress) return `Restoring sessions: ${progress.done + 1} of ${progress.total}…`;
  const count = offer?.sessions.length ?? 0;
  if (count === 0) return undefined;
  return `The server has rebooted. You can restore ${plural(count, "session")}.`;
}
