/** Which sessions are out of reach, as far as the page was told. */
import { signal } from "@preact/signals";

/** The way to a session's host is closed; what runs there runs on. */
export interface Unreachable {
  /** When it is tried next by itself, in the service's Unix milliseconds; absent: it is not. */
  nextAt?: number | undefined;
  /** Why the last attempt failed. */
  why?: string | undefined;
  wake?: "mac" | "command" | "none" | undefined;
  /** It is being woken. */
  waking?: boolean | undefined;
}

/** By session. */
export const unreachableSessions = signal<ReadonlyMap<string, Unreachable>>(new Map());

export const isUnreachable = (id: string): boolean => unreachableSessions.value.has(id);

/** Characters that the service keeps until a session's host is back, by session. */
export const queuedInput = signal<ReadonlyMap<string, number>>(new Map());
