/** One line about the connection, only while there is something to say. */
import { lost } from "./lost.ts";
import { plural } from "../lib/format.ts";
import { retryNow, streamState } from "../stream/connection.ts";
import { currentView } from "../terminal/current.ts";

/** What was typed meanwhile waits in the page. */
function Typed() {
  const waiting = currentView.value?.waiting.value ?? 0;
  return waiting > 0 ? <small>{plural(waiting, "typed character")} will follow</small> : null;
}

export function Banner() {
  const text = lost.value;
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
          <Typed />
          <button type="button" class="button small" onClick={retryNow}>
            Try now
          </button>
        </div>
      )}
    </div>
  );
}
