/** A host that is out of reach, in words. */
import { plural } from "../lib/format.ts";
import type { Away } from "./state.ts";

export function awayText(hostId: string, { waking }: Away): string {
  if (waking) return `Waking ${hostId}…`;
  return `${hostId} is out of reach; what runs there runs on.`;
}

/** When it is tried next. @param now the service's present, in milliseconds. */
export function countdown({ nextAt }: Away, now: number): string {
  if (nextAt === undefined) return "It is not tried again by itself.";
  const seconds = Math.ceil((nextAt - now) / 1000);
  if (seconds <= 0) return "Trying…";
  if (seconds < 100) return `Next attempt in ${seconds}\u00a0s.`;
  return `Next attempt in ${Math.ceil(seconds / 60)}\u00a0min.`;
}

/** Waking is for whoever has the session; connecting alone is for admins. */
export const canTry = ({ wake }: Away, admin: boolean): boolean =>
  admin || wake === "mac" || wake === "command";

/** What was kept is gone; whoever wrote it must know, to write it again. */
export const lostText = (name: string, chunks: number, reason: string): string =>
  `${plural(chunks, "input")} kept for ${name} will not be typed: ${reason}`;
