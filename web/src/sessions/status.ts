/** A session's state in words and as one of a few looks. */
import type { Session } from "../api/types.ts";

/** The process this service talks to; a detached session's goes on without it. */
export const livePid = (session: Session | undefined): number | null =>
  session && !session.detached ? session.pid : null;

/** `done`: an agent's turn is over and nobody has looked since. */
export type Look =
  "busy" | "done" | "idle" | "attention" | "ended" | "detached" | "stopped" | "error" | "paused";

export function lookOf(session: Session, attention: boolean): Look {
  if (session.status === "error") return "error";
  if (session.detached) return "detached";
  if (session.status === "stopped") return "stopped";
  if (session.pid === null) return "ended";
  if (attention) return "attention";
  if (session.limitPaused) return "paused";
  return session.status === "busy" ? "busy" : "idle";
}

const WORDS: Record<Look, string> = {
  busy: "working",
  done: "done",
  idle: "idle",
  attention: "waits for you",
  ended: "not running",
  detached: "detached",
  stopped: "stopped",
  error: "failed repeatedly",
  paused: "paused by a usage limit",
};

export const wordOf = (look: Look): string => WORDS[look];

/** How the program ended, in a sentence; an unknown status is not called a success. */
export function endingText(session: Session): string {
  if (session.detached) return "Detached: the program goes on without this service.";
  if (session.status === "error") return "It ended with an error five times in ten seconds and is held back.";
  const exit = session.paneExit;
  if (!exit)
    return session.status === "stopped"
      ? "The service ended this session."
      : "No program runs in this session.";
  // What became of its container says more than how the process ended.
  const why = exit.reason && session.statusReason;
  if (why) return `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  if (exit.signal !== undefined) return `The program was ended by signal ${exit.signal}.`;
  if (exit.status === undefined) return "The program has ended.";
  return exit.status === 0 ? "The program has ended." : `The program ended with status ${exit.status}.`;
}

export const COLORS = ["default", "red", "orange", "yellow", "green", "blue", "purple", "pink"] as const;
