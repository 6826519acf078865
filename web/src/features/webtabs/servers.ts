/** Where the servers of sessions are: their ports, and the addresses that the one in front prints. */
import { effect, signal } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { currentView } from "../terminal/current.ts";
import { localAddresses } from "./state.ts";

const LOOK_MS = 2_000;
/** Chips of a session; a row has no room for more. */
export const SERVERS_MAX = 4;
/** Sessions whose addresses are remembered. */
const SESSIONS_MAX = 50;

/** Addresses that were on the screen, by session and port: they may lead deeper than the port alone. */
const printed = signal<ReadonlyMap<string, ReadonlyMap<number, string>>>(new Map());

export interface Server {
  port: number;
  address: string;
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === "https:" ? 443 : 80);

/** One for each port that listens. */
export function listServers({ id, serverPorts = [] }: Session): Server[] {
  const known = printed.value.get(id);
  return serverPorts
    .slice(0, SERVERS_MAX)
    .map((port) => ({ port, address: known?.get(port) ?? `http://localhost:${port}/` }));
}

/** What is on the screen now; what was scrolled out is old news. */
function screenText(): string {
  const terminal = currentView.peek()?.screen.terminal;
  if (!terminal) return "";
  const buffer = terminal.buffer.active;
  let text = "";
  for (let row = 0; row < terminal.rows; row++) {
    const line = buffer.getLine(buffer.baseY + row);
    if (line) text += (line.isWrapped ? "" : "\n") + line.translateToString(true);
  }
  return text;
}

/** @param service the service's own host: it prints its address too. */
export function noteAddresses(id: string, text: string, service: string): void {
  const before = printed.peek().get(id);
  const found = new Map(before);
  for (const address of localAddresses(text)) {
    const url = new URL(address);
    if (url.host !== service && !found.has(portOf(url))) found.set(portOf(url), address);
  }
  if (found.size === (before?.size ?? 0)) return;
  printed.value = new Map([...new Map(printed.peek()).set(id, found)].slice(-SESSIONS_MAX));
}

/** Looks now and then at the session in front, as long as somebody sees it. */
export function followServers(): void {
  effect(() => {
    if (!currentView.value) return undefined;
    const timer = setInterval(() => {
      const id = currentView.peek()?.sessionId;
      if (!document.hidden && id !== undefined) noteAddresses(id, screenText(), location.host);
    }, LOOK_MS);
    return () => clearInterval(timer);
  });
}
