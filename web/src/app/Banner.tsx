/** One line about the connection, only while there is something to say. */
import { restarting, retryNow, seeded, streamState } from "../stream/connection.ts";
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

export function Banner() {
  const text = bannerText(streamState.value, restarting.value, seeded.value);
  return (
    <div
      class="banner-place"
      role="status"
      aria-live="polite"
      data-testid="banner"
      data-stream={streamState.value}
    >
      {text !== undefined && (
        <div class="banner">
          <span class="spinner" />
          <span>{text}</span>
          <button type="button" class="button small" onClick={retryNow}>
            Try now
          </button>
        </div>
      )}
    </div>
  );
}
