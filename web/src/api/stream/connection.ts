/** The page's one event stream and what its state means to the person. */
import { signal } from "@preact/signals";
import { reportForbidden, reportUnauthorized } from "../client.ts";
import { EventStream, type StreamState } from "./eventstream.ts";
import { dispatchServerEvent } from "./events.ts";
import { openStream } from "./open.ts";
import type { Message } from "./parser.ts";

export const streamState = signal<StreamState>("connecting");
/** The service said that it goes down; cleared by the next open stream. */
export const restarting = signal(false);
/** True from the first `init` on. */
export const hasReceivedInit = signal(false);

/** A page hidden for longer than this (ms) does not trust its sockets on waking. */
const NAP_MS = 5_000;

/**
 * `doubt`: open connections may be dead without knowing it (the device slept, the network
 * changed, the stream fell silent). `back`: the service answers again.
 */
export type WakeReason = "doubt" | "back";

const wakers = new Set<(wake: WakeReason) => void>();

/** Tell `listener` when its own connection deserves a new look. */
export function onWake(listener: (wake: WakeReason) => void): () => void {
  wakers.add(listener);
  return () => wakers.delete(listener);
}

function tellWakers(wake: WakeReason): void {
  for (const waker of wakers) waker(wake);
}

function receive(message: Message): void {
  let data: unknown;
  try {
    data = JSON.parse(message.data);
  } catch {
    console.error("an event holds no JSON", message.event);
    return;
  }
  if (message.event === "server:shutdown") restarting.value = true;
  dispatchServerEvent(message.event, data);
  // Only now: whoever waits for this reads the list of sessions.
  if (message.event === "init") hasReceivedInit.value = true;
}

/** A lost stream is lost until it is open again: each try would hide what is said of it for a moment. */
export const getShownState = (before: StreamState, now: StreamState): StreamState =>
  before === "retrying" && now === "connecting" ? before : now;

function changed(state: StreamState): void {
  streamState.value = getShownState(streamState.peek(), state);
  if (state === "open") {
    restarting.value = false;
    tellWakers("back");
  }
}

const stream = new EventStream({
  open: openStream,
  online: () => navigator.onLine,
  random: Math.random,
  onMessage: receive,
  onState: changed,
  onRefused: (status) => (status === 401 ? reportUnauthorized() : reportForbidden()),
  onSilence: () => tellWakers("doubt"),
});

function wake(): void {
  if (streamState.value === "signed-out" || streamState.value === "closed") return;
  stream.connect();
  tellWakers("doubt");
}

let hiddenAt = 0;

function visibility(): void {
  if (document.visibilityState === "hidden") hiddenAt = Date.now();
  else if (Date.now() - hiddenAt > NAP_MS || streamState.value !== "open") wake();
}

export function startStream(): void {
  addEventListener("online", wake);
  addEventListener("offline", () => (streamState.value = "offline"));
  document.addEventListener("visibilitychange", visibility);
  stream.connect();
}

/** While the service is about to end every connection of this person: no trying again. */
export function holdStream(): void {
  stream.suspend();
}

/** After signing in: everything is read anew. */
export function restartStream(): void {
  stream.forget();
  stream.connect();
}

/** After signing out: nothing of the last user's is heard or shown any more. */
export function stopStream(): void {
  if (streamState.value !== "signed-out") stream.suspend();
  hasReceivedInit.value = false;
}

/** "Try now" of the banner. */
export const retryNow = wake;
