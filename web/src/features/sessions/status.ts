/** A session's state in words and as one of a few looks. */
import type { Session } from "../../api/types.ts";

/** The process this service talks to; a detached session's goes on without it. */
export const livePid = (session: Session | undefined): number | null =>
  session && !session.detached ? session.pid : null;

/** `done`: an agent's turn is over and nobody has looked since. */
export type DisplayState =
  "busy" | "done" | "idle" | "attention" | "ended" | "detached" | "stopped" | "error" | "paused";

export function getDisplayState(session: Session, attention: boolean): DisplayState {
  if (session.status === "error") return "error";
  if (session.detached) return "detached";
  if (session.status === "stopped") return "stopped";
  if (session.pid === null) return "ended";
  if (attention) return "attention";
  if (session.limitPaused) return "paused";
  return session.status === "busy" || session.foreground ? "busy" : "idle";
}

const WORDS: Record<DisplayState, string> = {
  busy: "working",
  done: "done",
  idle: "ready",
  attention: "needs you",
  ended: "not running",
  detached: "detached",
  stopped: "stopped",
  error: "keeps crashing",
  paused: "paused by a usage limit",
};

/** An agent works; what a shell runs may only wait. */
export const getStateLabel = (state: DisplayState, mode: string): string =>
  state === "busy" && mode === "shell" ? "running" : WORDS[state];

/** Since when it does what it does now, in Unix milliseconds. */
export const getWorkStart = ({ foreground, lastSubmitAt }: Session): number | undefined =>
  foreground?.since ?? lastSubmitAt;

/** How the program ended, in a sentence; an unknown status is not called a success. */
export function describeExit(session: Session): string {
  if (session.detached) return "Detached. The program keeps running in tmux.";
  if (session.status === "error") return "Crashed 5 times in 10 seconds; not restarted.";
  const exit = session.paneExit;
  if (!exit)
    return session.status === "stopped"
      ? "The server stopped this session."
      : "No program is running in this session.";
  // What became of its container says more than how the process ended.
  const why = exit.reason && session.statusReason;
  if (why) return `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  if (exit.signal !== undefined) return `The program was stopped by signal ${exit.signal}.`;
  if (exit.status === undefined) return "The program exited.";
  return exit.status === 0 ? "The program exited." : `The program exited with status ${exit.status}.`;
}

export const COLORS = ["default", "red", "orange", "yellow", "green", "blue", "purple", "pink"] as const;

/** The service answers the question of this mode whether it may trust the folder (protocol-trust). */
export const TRUSTED_MODE = "primary";
