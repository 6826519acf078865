/** Hears of the hosts that sessions are on, and asks where nothing was told yet (protocol-remote). */
import type { Reachability, Session } from "../api/types.ts";
import { effect } from "@preact/signals";
import { sessionList } from "../store/state.ts";
import { onServerEvent } from "../stream/events.ts";
import { readReach } from "./calls.ts";
import { type Away, away, tellAway } from "./state.ts";

/** @returns undefined for a host that is reached; one that is being woken is not reached for a while. */
export function awayIn({ reachable, nextAt, error, wakeConfigured }: Reachability): Away | undefined {
  return reachable ? undefined : { nextAt, why: error, wake: wakeConfigured };
}

const far = (): Session[] =>
  [...sessionList.peek().byId.values()].filter((each) => each.remote !== undefined);

/** Those on one host: what is told of it holds for all. */
export const onHost = (list: readonly Session[], hostId: string): string[] =>
  list.filter(({ remote }) => remote?.hostId === hostId).map(({ id }) => id);

/** Asked for one session of each host. */
export async function readHost(hostId: string): Promise<void> {
  const ids = onHost(far(), hostId);
  const [first] = ids;
  if (first === undefined) return;
  const answer = await readReach(first);
  // Not tried yet, or being tried just now: what is known stays.
  if (answer.reachable === null) return;
  const found = awayIn(answer);
  for (const id of ids) tellAway(id, found);
}

/** Without an answer the page keeps what it knows; the next event tells more. */
function look(hostId: string): void {
  readHost(hostId).catch((error: unknown) => console.warn(`reachability of ${hostId}`, error));
}

const lookAll = (): void => {
  for (const hostId of new Set(far().map(({ remote }) => remote?.hostId ?? ""))) look(hostId);
};

/** Sessions whose host was asked for. */
const asked = new Set<string>();

/** A session that came later may be away already. */
function lookAtNew(): void {
  const fresh = far().filter(({ id }) => !asked.has(id));
  for (const { id } of fresh) asked.add(id);
  for (const hostId of new Set(fresh.map(({ remote }) => remote?.hostId ?? ""))) look(hostId);
}

function forgetGone(): void {
  const { byId } = sessionList.peek();
  for (const id of asked) if (!byId.has(id)) asked.delete(id);
  for (const id of away.peek().keys()) if (!byId.has(id)) tellAway(id, undefined);
}

interface Heard {
  id?: string;
  hostId?: string;
  nextAt?: number;
  reason?: string;
}

/** What each event of a host's says of the sessions that it means; undefined: they are reached. */
export function meaning(name: string, heard: Heard): Away | undefined {
  if (name === "remote:sessionReconnected") return undefined;
  if (name === "remote:sessionDropped") return { nextAt: heard.nextAt, waking: false };
  if (name === "remote:reconnectExhausted") return { nextAt: undefined, waking: false };
  if (name === "remote:hostWaking") return { waking: true };
  return { waking: false, why: `it did not wake: ${heard.reason ?? "no answer"}` };
}

function hear(data: unknown, name: string): void {
  const heard = (data ?? {}) as Heard;
  const ids = heard.hostId === undefined ? [] : onHost(far(), heard.hostId);
  if (typeof heard.id === "string") ids.push(heard.id);
  for (const id of ids) tellAway(id, meaning(name, heard));
  // The event does not say why, nor whether the host can be woken.
  const hostId = sessionList.peek().byId.get(heard.id ?? "")?.remote?.hostId;
  if (hostId !== undefined && name === "remote:sessionDropped") look(hostId);
}

export function follow(): void {
  onServerEvent("remote:", hear);
  // What happened while the stream was away was not heard.
  onServerEvent("init", lookAll);
  effect(() => {
    void sessionList.value;
    forgetGone();
    lookAtNew();
  });
}
