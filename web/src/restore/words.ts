/** The offer as people read it. */
import type { RestoreOfferResponse, RestorableSessionResponse, Told } from "../api/types.ts";
import { plural } from "../lib/format.ts";

/** @returns undefined while there is nothing to say. */
export function headline(
  offer: RestoreOfferResponse | undefined,
  progress: Told["restore:progress"] | undefined,
): string | undefined {
  if (progress) return `Bringing sessions back: ${progress.done + 1} of ${progress.total}…`;
  const count = offer?.sessions.length ?? 0;
  if (count === 0) return undefined;
  return `The machine has restarted. ${plural(count, "session")} can come back.`;
}

/** What will be there of one session. */
export function promise(lost: RestorableSessionResponse, isShell: boolean): string {
  const what = isShell
    ? "a new shell in its folder"
    : lost.resumes
      ? "goes on with its conversation"
      : "begins a new conversation";
  return lost.scrollback ? `${what}, below what it showed` : what;
}

const TROUBLES: Record<string, string> = {
  "already-live": "is running already",
  "capacity-reached": "not yet: there are as many sessions as there may be",
  "workspace-missing": "not yet: its folder is missing, or does not answer",
  "workspace-forbidden": "not yet: its folder is closed to you now",
  "agent-failed": "not yet: its program did not start, or ended at once",
};

/** Why a session did not come back; undefined when it did, or was not tried.  An outcome of a later
 * service is told by its name. */
export function trouble(outcome: { outcome: string } | undefined): string | undefined {
  if (!outcome || outcome.outcome === "restored") return undefined;
  return TROUBLES[outcome.outcome] ?? `not yet: ${outcome.outcome}`;
}

export function verdict(restored: number, skipped: number): string {
  if (restored === 0) return `${plural(skipped, "session")} not brought back`;
  if (skipped === 0) return `${plural(restored, "session")} brought back`;
  return `${plural(restored, "session")} brought back, ${skipped} not`;
}

const HOUR_MS = 3_600_000;

export function standsFor(expiresAt: number | null, now: number): string {
  if (expiresAt === null) return "";
  const hours = Math.round((expiresAt - now) / HOUR_MS);
  if (hours < 1) return "The offer ends within the hour.";
  return `The offer stands for another ${plural(hours, "hour")}.`;
}
