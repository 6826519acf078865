/** The host of the session in front is out of reach: since when no more is known, and what can be done. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { HOSTS_PAGE, openPage } from "../../ui/pages/registry.ts";
import { isAdmin } from "../../store/me.ts";
import { plural } from "../../lib/format.ts";
import { serverNow } from "../../api/stream/servertime.ts";
import { formatError } from "../../api/errors.ts";
import { showToast } from "../../store/toasts.ts";
import { describeUnreachable, canReconnect, describeNextTry, readHost } from "./follow.ts";
import "./unreachable.css";
import { type Unreachable, unreachableSessions, queuedInput, isUnreachable } from "./state.ts";
import { setUnreachable } from "./unreachable.ts";

const TICK_MS = 1_000;

/** The service's present, to the second. */
function useSeconds(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** It takes up to 40 s, of which not everybody is told by events (protocol-wake). */
async function wakeHostOf(sessionId: string): Promise<void> {
  setUnreachable(sessionId, { waking: true });
  try {
    await api.post("/api/sessions/{id}/wake", { path: { id: sessionId } });
  } finally {
    if (isUnreachable(sessionId)) setUnreachable(sessionId, { waking: false });
  }
}

/** A wake where one is configured; otherwise looking there connects at once. */
async function reconnect(sessionId: string, hostId: string, how: Unreachable["wake"]): Promise<void> {
  try {
    if (how === "mac" || how === "command") await wakeHostOf(sessionId);
    else {
      const found = await api.post("/api/remote-hosts/{id}/check", { path: { id: hostId } });
      if (!found.ok) throw new Error(found.error ?? "The host can't be used.");
    }
  } catch (error) {
    const act = () => void (openPage.value = HOSTS_PAGE);
    showToast("bad", `Couldn't reach ${hostId}`, formatError(error), { label: "Remote hosts", act });
  }
  await readHost(hostId);
}

function QueuedInput({ id }: { id: string }) {
  const count = queuedInput.value.get(id) ?? 0;
  return count > 0 ? (
    <small data-testid="unreachable-queued">{plural(count, "keystroke")} queued until it is reachable</small>
  ) : null;
}

export function UnreachableNotice({ session }: { session: Session }) {
  const told = unreachableSessions.value.get(session.id);
  return told && session.pid !== null ? <Notice session={session} told={told} /> : null;
}

function Notice({ session, told }: { session: Session; told: Unreachable }) {
  const now = useSeconds();
  const [busy, setBusy] = useState(false);
  const hostId = session.remote?.hostId ?? "";
  const waking = told.waking === true;
  const tryNow = () => {
    setBusy(true);
    void reconnect(session.id, hostId, told.wake).then(() => setBusy(false));
  };
  return (
    <div class="banner session-notice unreachable" data-testid="unreachable-notice">
      <span class="spinner" />
      <span class="unreachable-text">
        <span>
          {describeUnreachable(hostId, told)} {/* Read once, not every second. */}
          <span role="timer" aria-live="off" data-testid="unreachable-countdown">
            {waking ? "" : describeNextTry(told, now)}
          </span>
        </span>
        {told.why !== undefined && !waking && <small>{told.why}</small>}
        <QueuedInput id={session.id} />
      </span>
      {canReconnect(told, isAdmin.value) && (
        <Button small disabled={busy || waking} onClick={tryNow} testid="unreachable-try">
          {told.wake === "mac" || told.wake === "command" ? "Wake host" : "Try now"}
        </Button>
      )}
    </div>
  );
}
