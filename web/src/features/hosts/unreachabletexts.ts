/** A host that is out of reach, in words. */
import { plural } from "../../lib/format.ts";
import type { Unreachable } from "./state.ts";

export function describeUnreachable(hostId: string, { waking }: Unreachable): string {
  if (waking) return `Waking ${hostId}…`;
  return `${hostId} is unreachable. Its sessions keep running.`;
}

/** When it is tried next. @param now the service's present, in milliseconds. */
export function describeNextTry({ nextAt }: Unreachable, now: number): string {
  if (nextAt === undefined) return "No automatic retry.";
  const seconds = Math.ceil((nextAt - now) / 1000);
  if (seconds <= 0) return "Connecting…";
  if (seconds < 100) return `Next try in ${seconds}\u00a0s.`;
  return `Next try in ${Math.ceil(seconds / 60)}\u00a0min.`;
}

/** Waking is for whoever has the session; connecting alone is for admins. */
export const canReconnect = ({ wake }: Unreachable, admin: boolean): boolean =>
  admin || wake === "mac" || wake === "command";

/** What was kept is gone; whoever wrote it must know, to write it again. */
export const describeLostInput = (name: string, chunks: number, reason: string): string =>
  `${plural(chunks, "queued input")} for ${name} won't be typed: ${reason}`;
