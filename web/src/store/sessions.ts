/** The list of sessions as a pure value, and how each event changes it (protocol-events). */
import type { Session } from "../api/types.ts";
import { table } from "../lib/table.ts";

export interface SessionList {
  readonly byId: ReadonlyMap<string, Session>;
  /** Every id of `byId` once, in the order the person chose. */
  readonly order: readonly string[];
  /** Sessions that wait for a person: a dialog is on their screen. */
  readonly attention: ReadonlySet<string>;
}

export const EMPTY: SessionList = { byId: new Map(), order: [], attention: new Set() };

export function createSessionList(sessions: readonly Session[], before: SessionList = EMPTY): SessionList {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const attention = new Set([...before.attention].filter((id) => byId.has(id)));
  return { byId, order: [...byId.keys()], attention };
}

export function upsertSession(list: SessionList, session: Session): SessionList {
  const byId = new Map(list.byId).set(session.id, session);
  const order = list.byId.has(session.id) ? list.order : [...list.order, session.id];
  return { ...list, byId, order };
}

export function removeSession(list: SessionList, id: string): SessionList {
  if (!list.byId.has(id)) return list;
  const byId = new Map(list.byId);
  byId.delete(id);
  return { byId, order: list.order.filter((other) => other !== id), attention: without(list.attention, id) };
}

export function patchSession(list: SessionList, id: string, change: Partial<Session>): SessionList {
  const session = list.byId.get(id);
  if (!session) return list;
  return { ...list, byId: new Map(list.byId).set(id, { ...session, ...change }) };
}

/** Ids that the new order leaves out keep their place behind it; unknown ids are dropped. */
export function reorder(list: SessionList, order: readonly string[]): SessionList {
  const known = [...new Set(order)].filter((id) => list.byId.has(id));
  const named = new Set(known);
  return { ...list, order: [...known, ...list.order.filter((id) => !named.has(id))] };
}

export function setAttention(list: SessionList, id: string, wanted: boolean): SessionList {
  if (list.attention.has(id) === wanted || (wanted && !list.byId.has(id))) return list;
  const attention = wanted ? new Set(list.attention).add(id) : without(list.attention, id);
  return { ...list, attention };
}

function without(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const copy = new Set(set);
  copy.delete(id);
  return copy;
}

/** Pinned first, each group in the chosen order. */
export function listInDisplayOrder(list: SessionList): Session[] {
  const all = list.order.flatMap((id) => list.byId.get(id) ?? []);
  return [...all.filter((session) => session.pinned), ...all.filter((session) => !session.pinned)];
}

interface Payload extends Partial<Session> {
  order?: string[];
}

function payloadOf(data: unknown): Payload {
  return typeof data === "object" && data !== null ? (data as Payload) : {};
}

function isSession(payload: Payload): payload is Session {
  return (
    typeof payload.id === "string" && typeof payload.mode === "string" && typeof payload.name === "string"
  );
}

const STATUS_OF: Record<string, Session["status"]> = table({
  "session:idle": "idle",
  "session:working": "busy",
  "session:stop": "idle",
});

/** An event's outcome; `refetch` names a session whose record has to be read again. */
export interface SessionListChange {
  list: SessionList;
  refetch?: string;
}

function ended(payload: Payload & { status?: unknown }): Partial<Session> {
  const at = (payload as { at?: number }).at ?? 0;
  const paneExit = typeof payload.status === "number" ? { status: payload.status, at } : { at };
  return { pid: null, status: "idle", paneExit };
}

function quiet(list: SessionList, id: string, name: string): SessionList {
  const status = STATUS_OF[name];
  const calmed = name === "session:working" ? setAttention(list, id, false) : list;
  return status ? patchSession(calmed, id, { status }) : calmed;
}

/** Events that change no field of a session. */
const OTHERS: ReadonlySet<string> = new Set([
  "session:terminal",
  "session:statusTelemetry",
  "session:conversation",
]);

/** What a `session:*` event does to the list. */
export function applySessionEvent(list: SessionList, name: string, data: unknown): SessionListChange {
  const payload = payloadOf(data);
  if (name === "session:orderChanged") return { list: reorder(list, payload.order ?? []) };
  if (name === "session:deleted" && payload.id) return { list: removeSession(list, payload.id) };
  if (isSession(payload)) return { list: upsertSession(list, payload) };
  const id = payload.id;
  if (id === undefined || !list.byId.has(id)) return { list };
  if (name === "session:exit") return { list: patchSession(list, id, ended(payload)), refetch: id };
  if (name === "session:blocked") return { list: setAttention(list, id, true) };
  if (name === "session:renamed" || name === "session:pinned")
    return { list: patchSession(list, id, payload) };
  if (name in STATUS_OF) return { list: quiet(list, id, name) };
  if (OTHERS.has(name)) return { list };
  return { list, refetch: id };
}
