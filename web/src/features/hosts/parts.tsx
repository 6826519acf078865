/** All that the page shows and hears of sessions elsewhere, loaded with the first one. */
import { plural } from "../../lib/format.ts";
import { type Unreachable, unreachableSessions, isUnreachable, queuedInput } from "./state.ts";
import { api } from "../../api/client.ts";
import type { HostReachability, Session, Told } from "../../api/types.ts";
import { effect } from "@preact/signals";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionList } from "../../store/state.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showToast } from "../../store/toasts.ts";
import { setUnreachable } from "./unreachable.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { HOSTS_PAGE, openPage } from "../../ui/pages/registry.ts";
import { isAdmin } from "../../store/me.ts";
import { serverNow } from "../../api/stream/servertime.ts";
import { formatError } from "../../api/errors.ts";
import "./parts.css";

export function describeUnreachable(hostId: string, { waking }: Unreachable): string {
  if (waking) return `Waking ${hostId}…`;
  return `${hostId} is unreachable. Its sessions keep running.`;
}

/** When it is tried next. @param now the service's present, in milliseconds. */
export function describeNextTry({ nextAt }: Unreachable, now: number): string {
  if (nextAt === undefined) return "No automatic retry.";
  const seconds = Math.ceil((nextAt - now) / 1000);
  if (seconds <= 0) return "Connecting…";
  if (seconds < 100) return `Next try in ${seconds}\u00a0s.`;
  return `Next try in ${Math.ceil(seconds / 60)}\u00a0min.`;
}

/** Waking is for whoever has the session; connecting alone is for admins. */
export const canReconnect = ({ wake }: Unreachable, admin: boolean): boolean =>
  admin || wake === "mac" || wake === "command";

/** What was kept is gone; whoever wrote it must know, to write it again. */
const describeLostInput = (name: string, chunks: number, reason: string): string =>
  `${plural(chunks, "queued input")} for ${name} won't be typed: ${reason}`;

/** @returns undefined for a host that is reached; one that is being woken is not reached for a while. */
export function toUnreachable({
  reachable,
  nextAt,
  error,
  wakeConfigured,
}: HostReachability): Unreachable | undefined {
  return reachable ? undefined : { nextAt, why: error, wake: wakeConfigured };
}

/** What has ended there is known to have. */
const listRemoteSessions = (): Session[] =>
  [...sessionList.peek().byId.values()].filter(({ remote, pid }) => remote !== undefined && pid !== null);

/** Those on one host: what is told of it holds for all. */
export const listSessionsOnHost = (list: readonly Session[], hostId: string): string[] =>
  list.filter(({ remote }) => remote?.hostId === hostId).map(({ id }) => id);

/** Asked for one session of each host. */
async function updateReachability(hostId: string, outdated: () => boolean): Promise<void> {
  const [first] = listSessionsOnHost(listRemoteSessions(), hostId);
  if (first === undefined) return;
  try {
    const answer = await api.get("/api/sessions/{id}/reachability", { path: { id: first } });
    // Not tried yet, or being tried just now: what is known stays.
    if (outdated() || answer.reachable === null) return;
    for (const id of listSessionsOnHost(listRemoteSessions(), hostId))
      setUnreachable(id, toUnreachable(answer));
  } catch (error) {
    // The page keeps what it knows; the next event tells more.
    console.warn(`reachability of ${hostId}`, error);
  }
}

/** By host: twenty sessions on one tell of a drop at the same time. */
const reads = new Map<string, CoalescedRead>();

export function readHost(hostId: string): Promise<void> {
  const read = reads.get(hostId) ?? new CoalescedRead((outdated) => updateReachability(hostId, outdated));
  reads.set(hostId, read);
  return read.now();
}

const readHosts = (found: readonly Session[]): void => {
  for (const hostId of new Set(found.map(({ remote }) => remote?.hostId ?? ""))) void readHost(hostId);
};

/** Sessions whose host was asked for. */
const asked = new Set<string>();

/** A session that came later may be away already. */
function readNewSessions(): void {
  const fresh = listRemoteSessions().filter(({ id }) => !asked.has(id));
  for (const { id } of fresh) asked.add(id);
  readHosts(fresh);
}

function forgetGone(): void {
  const { byId } = sessionList.peek();
  for (const id of asked) if (!byId.has(id)) asked.delete(id);
  for (const id of unreachableSessions.peek().keys())
    if ((byId.get(id)?.pid ?? null) === null) setUnreachable(id, undefined);
}

interface Heard {
  id?: string;
  hostId?: string;
  nextAt?: number;
  reason?: string;
}

/** What each event of a host's says of the sessions that it means; undefined: they are reached. */
export function meaning(name: string, heard: Heard): Unreachable | undefined {
  if (name === "remote:sessionReconnected") return undefined;
  if (name === "remote:sessionDropped") return { nextAt: heard.nextAt, waking: false };
  if (name === "remote:reconnectExhausted") return { nextAt: undefined, waking: false };
  if (name === "remote:hostWaking") return { waking: true };
  return { waking: false, why: `it did not wake up: ${heard.reason ?? "no answer"}` };
}

function hear(data: unknown, name: string): void {
  const heard = (data ?? {}) as Heard;
  if (heard.hostId !== undefined) {
    // Waking says nothing of a way that is open.
    for (const id of listSessionsOnHost(listRemoteSessions(), heard.hostId).filter(isUnreachable))
      setUnreachable(id, meaning(name, heard));
    return;
  }
  if (heard.id === undefined) return;
  setUnreachable(heard.id, meaning(name, heard));
  // The event does not say why, nor whether the host can be woken.
  const hostId = sessionList.peek().byId.get(heard.id)?.remote?.hostId;
  if (hostId !== undefined) void readHost(hostId);
}

/** It stays until somebody has dealt with it. */
export function reportLostInput({ id, chunks, reason }: Told["session:inputLost"]): void {
  const name = sessionList.peek().byId.get(id)?.name ?? id;
  showToast("bad", "Not typed", describeLostInput(name, chunks, reason), {
    label: "Show",
    act: () => select(id),
  });
}

export function follow(): void {
  onServerEvent("remote:", hear);
  onServerEvent("session:inputLost", reportLostInput);
  // What happened while the stream was away was not heard.
  onServerEvent("init", () => readHosts(listRemoteSessions()));
  effect(() => {
    void sessionList.value;
    forgetGone();
    readNewSessions();
  });
}

interface SessionLocation {
  kind: "remote" | "container";
  /** Short enough for a tab. */
  name: string;
  /** The whole of it. */
  hint: string;
}

/** @returns undefined for a session of the service's own machine. */
export function describeLocation({ remote, container }: Session): SessionLocation | undefined {
  if (remote) {
    const what = remote.owned ? "on the remote host" : "a tmux session on the remote host";
    return { kind: "remote", name: remote.hostId, hint: `${what} ${remote.hostId}` };
  }
  if (container) return { kind: "container", name: "container", hint: `in container ${container.name}` };
  return undefined;
}

export function LocationMark({ session }: { session: Session }) {
  const place = describeLocation(session);
  if (!place) return null;
  const gone = isUnreachable(session.id);
  const hint = gone ? `${place.hint}, unreachable` : place.hint;
  return (
    <span
      class="location-mark"
      data-tip={hint}
      data-away={gone}
      data-kind={place.kind}
      data-testid="place-mark"
    >
      <Icon name={place.kind === "remote" ? "server" : "box"} size={13} />
      <span class="location-mark-name" aria-hidden="true">
        {place.name}
      </span>
      <span class="sr-only">{hint}</span>
    </span>
  );
}

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

/** All that the page shows and hears of sessions elsewhere, loaded with the first one. */
