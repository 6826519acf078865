/** What the page says about its connection to the service, while it has none. */
import { computed } from "@preact/signals";
import { restarting, seeded, streamState } from "../stream/connection.ts";
import type { StreamState } from "../stream/eventstream.ts";

/** @returns undefined while nothing needs saying; a first connection is shown by the page itself. */
export function bannerText(state: StreamState, restart: boolean, known: boolean): string | undefined {
  if (state === "offline") return "This device is offline. The sessions go on without it.";
  if (restart && state !== "open")
    return "The service has stopped; the sessions go on. Waiting for it to come back…";
  if (state === "retrying")
    return known ? "The connection is lost. Trying again…" : "The service cannot be reached. Trying again…";
  return undefined;
}

export const lost = computed(() => bannerText(streamState.value, restarting.value, seeded.value));
