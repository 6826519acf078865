/** What the page says about its connection to the service, while it has none. */
import { computed } from "@preact/signals";
import { restarting, hasReceivedInit, streamState } from "../api/stream/connection.ts";
import type { StreamState } from "../api/stream/eventstream.ts";

/** @returns undefined while nothing needs saying; a first connection is shown by the page itself. */
export function describeConnection(state: StreamState, restart: boolean, known: boolean): string | undefined {
  if (state === "offline") return "You're offline. Your sessions keep running.";
  if (restart && state !== "open") return "The server is restarting. Your sessions keep running.";
  if (state === "retrying")
    return known ? "Connection lost. Reconnecting…" : "Can't reach the server. Trying again…";
  return undefined;
}

export const connectionNotice = computed(() =>
  describeConnection(streamState.value, restarting.value, hasReceivedInit.value),
);
