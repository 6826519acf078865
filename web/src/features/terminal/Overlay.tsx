/** What lies over the terminal: never more than needed, never in the way of reading. */
import { connectionNotice } from "../../store/connectionnotice.ts";
import { close, start } from "../sessions/actions.ts";
import { describeExit, livePid } from "../sessions/status.ts";
import type { Session } from "../../api/types.ts";
import { sessionList } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { plural } from "../../lib/format.ts";
import { type Notice, NOTICES } from "./link/closecodes.ts";
import { historyOpen } from "../../ui/pages/openpanels.ts";
import type { LinkState } from "./link/link.ts";
import type { TerminalView } from "./view.ts";

function noticeOf(state: LinkState): Notice | undefined {
  return state in NOTICES ? NOTICES[state as keyof typeof NOTICES] : undefined;
}

function LinkPill({ view }: { view: TerminalView }) {
  const state = view.linkState.value;
  // The banner says it for the whole page.
  if (connectionNotice.value !== undefined || (state !== "connecting" && state !== "retrying")) return null;
  const waiting = view.waiting.value;
  return (
    <div class="pill connecting" role="status" data-testid="reconnecting">
      <span class="spinner" />
      {state === "connecting" ? "Connecting…" : "Reconnecting…"}
      {waiting > 0 && <small>{plural(waiting, "keystroke")} queued</small>}
    </div>
  );
}

function LinkNotice({ view, notice }: { view: TerminalView; notice: Notice }) {
  return (
    <div class="notice" role="alert" data-testid="link-notice" data-state={view.linkState.value}>
      <h3>{notice.title}</h3>
      <p>{notice.text}</p>
      {notice.action && (
        <button type="button" class="button primary" onClick={() => view.link.connect()}>
          {notice.action}
        </button>
      )}
    </div>
  );
}

function Ended({ session }: { session: Session }) {
  const held = session.status === "error" || session.respawnBlocked === true;
  return (
    <div class="notice ended" role="status" data-testid="ended">
      <p>{describeExit(session)}</p>
      <div class="notice-actions">
        <button type="button" class="button" onClick={() => void close(session.id)}>
          Close
        </button>
        <button
          type="button"
          class="button primary"
          onClick={() => void start(session.id)}
          data-testid="start"
        >
          <Icon name="play" size={16} /> {session.detached ? "Attach" : held ? "Start anyway" : "Start again"}
        </button>
      </div>
    </div>
  );
}

function Floating({ view, inCell }: { view: TerminalView; inCell: boolean }) {
  const foreign = inCell ? undefined : view.foreignSize.value;
  const toEnd = () => {
    view.screen.terminal.scrollToBottom();
    view.focus();
  };
  return (
    <div class="floating">
      {foreign && (
        <button type="button" class="pill" onClick={() => view.forceSize()} data-testid="foreign-size">
          Another window set the size to {foreign.cols}×{foreign.rows} · <b>Resize to this window</b>
        </button>
      )}
      {view.atTop.value && (
        <button
          type="button"
          class="pill"
          onClick={() => (historyOpen.value = { sessionId: view.sessionId, query: "" })}
        >
          <Icon name="history" size={15} /> Full history
        </button>
      )}
      {view.scrolledUp.value && (
        <button type="button" class="pill" onClick={toEnd} data-testid="to-end">
          <Icon name="down" size={15} /> Latest
        </button>
      )}
    </div>
  );
}

interface Props {
  view: TerminalView | undefined;
  /** A cell's head says what else is to be said of its size. */
  inCell?: boolean;
}

export function Overlay({ view, inCell = false }: Props) {
  if (!view) return null;
  const notice = noticeOf(view.linkState.value);
  const session = sessionList.value.byId.get(view.sessionId);
  const ended = !notice && session !== undefined && livePid(session) === null;
  return (
    <div class="overlay" data-ended={ended}>
      <LinkPill view={view} />
      {!ended && <Floating view={view} inCell={inCell} />}
      {notice && <LinkNotice view={view} notice={notice} />}
      {ended && <Ended session={session} />}
    </div>
  );
}
