/** One line about the connection, only while there is something to say. */
import { connectionNotice } from "../store/connectionnotice.ts";
import { plural } from "../lib/format.ts";
import { retryNow, streamState } from "../api/stream/connection.ts";
import { currentView } from "../features/terminal/current.ts";

/** What was typed meanwhile waits in the page. */
function QueuedKeystrokes() {
  const waiting = currentView.value?.waiting.value ?? 0;
  return waiting > 0 ? <small>{plural(waiting, "keystroke")} queued</small> : null;
}

export function ConnectionBanner() {
  const text = connectionNotice.value;
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
          <QueuedKeystrokes />
          <button type="button" class="button small" onClick={retryNow}>
            Try now
          </button>
        </div>
      )}
    </div>
  );
}
