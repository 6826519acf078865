/** The host of the session in front is out of reach: since when no more is known, and what can be done. */
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../api/types.ts";
import { openPage } from "../app/registry.ts";
import { isAdmin } from "../auth/me.ts";
import { plural } from "../lib/format.ts";
import { serverNow } from "../stream/servertime.ts";
import { sentenceOf } from "../api/errors.ts";
import { say } from "../ui/toasts.ts";
import { awayText, canTry, countdown } from "./awaywords.ts";
import { checkHost, wake } from "./calls.ts";
import "./away.css";
import { readHost } from "./follow.ts";
import { HOSTS_PAGE } from "./page.ts";
import { type Away, away, held, isAway } from "./state.ts";
import { tellAway } from "./tell.ts";

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
async function woken(sessionId: string): Promise<void> {
  tellAway(sessionId, { waking: true });
  try {
    await wake(sessionId);
  } finally {
    if (isAway(sessionId)) tellAway(sessionId, { waking: false });
  }
}

/** A wake where one is configured; otherwise looking there connects at once. */
async function attempt(sessionId: string, hostId: string, how: Away["wake"]): Promise<void> {
  try {
    if (how === "mac" || how === "command") await woken(sessionId);
    else {
      const found = await checkHost(hostId);
      if (!found.ok) throw new Error(found.error ?? "It cannot be used.");
    }
  } catch (error) {
    const act = () => void (openPage.value = HOSTS_PAGE);
    say("bad", `${hostId} was not reached`, sentenceOf(error), { label: "SSH hosts", act });
  }
  await readHost(hostId);
}

function Held({ id }: { id: string }) {
  const count = held.value.get(id) ?? 0;
  return count > 0 ? (
    <small data-testid="away-held">{plural(count, "typed character")} will follow, once it is back</small>
  ) : null;
}

export function AwayNotice({ session }: { session: Session }) {
  const told = away.value.get(session.id);
  return told && session.pid !== null ? <Notice session={session} told={told} /> : null;
}

function Notice({ session, told }: { session: Session; told: Away }) {
  const now = useSeconds();
  const [busy, setBusy] = useState(false);
  const hostId = session.remote?.hostId ?? "";
  const waking = told.waking === true;
  const tryNow = () => {
    setBusy(true);
    void attempt(session.id, hostId, told.wake).then(() => setBusy(false));
  };
  return (
    <div class="banner session-notice away" data-testid="away-notice">
      <span class="spinner" />
      <span class="away-text">
        <span>
          {awayText(hostId, told)} {/* Read once, not every second. */}
          <span role="timer" aria-live="off" data-testid="away-countdown">
            {waking ? "" : countdown(told, now)}
          </span>
        </span>
        {told.why !== undefined && !waking && <small>{told.why}</small>}
        <Held id={session.id} />
      </span>
      {canTry(told, isAdmin.value) && (
        <button
          type="button"
          class="button small"
          disabled={busy || waking}
          onClick={tryNow}
          data-testid="away-try"
        >
          {told.wake === "mac" || told.wake === "command" ? "Wake it" : "Try now"}
        </button>
      )}
    </div>
  );
}
