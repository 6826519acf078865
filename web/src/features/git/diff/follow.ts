/** Which events make a workspace worth reading again. */
import { effect } from "@preact/signals";
import type { Session } from "../../../api/types.ts";
import { activeId, activeSession, sessionList } from "../../../store/state.ts";
import { hasReceivedInit, streamState } from "../../../api/stream/connection.ts";
import { onServerEvent } from "../../../api/stream/events.ts";
import { forget, refresher } from "../state.ts";

/** How long most commands take. */
const COMMAND_MS = 1_500;

/** Remote hosts and containers are never inspected (protocol-git-status). */
function isLocal(session: Session | undefined): boolean {
  return session !== undefined && (session.location ?? "local") === "local";
}

function look(): void {
  const session = activeSession.value;
  const connected = hasReceivedInit.value && streamState.value === "open";
  const awake = connected && document.visibilityState === "visible";
  refresher.look(isLocal(session) ? session?.id : undefined, awake);
}

function idOf(data: unknown): string {
  return String((data as { id?: unknown } | null)?.id);
}

/** An agent's turn is over: it may have changed files. */
function turnEnded(data: unknown): void {
  const id = idOf(data);
  if (isLocal(sessionList.peek().byId.get(id))) refresher.ask(id);
}

/** Something was busy and is not: of interest only while somebody looks. */
function fellQuiet(data: unknown): void {
  if (refresher.isFront(idOf(data))) refresher.ask(idOf(data));
}

/** A command was entered in front: a shell tells of no turns. */
function pressed(event: KeyboardEvent): void {
  const id = activeId.peek();
  const typed = event.key === "Enter" && event.target instanceof Element;
  if (!typed || id === undefined || !(event.target as Element).closest(".terminal-host")) return;
  if (refresher.isFront(id)) refresher.ask(id, COMMAND_MS);
}

function gone(data: unknown): void {
  refresher.drop(idOf(data));
  forget(idOf(data));
}

/** Follow the sessions for as long as the page lives. */
export function followGit(): void {
  effect(look);
  document.addEventListener("visibilitychange", look);
  document.addEventListener("keydown", pressed, { capture: true, passive: true });
  onServerEvent("session:stop", turnEnded);
  onServerEvent("session:idle", fellQuiet);
  onServerEvent("session:exit", fellQuiet);
  onServerEvent("session:deleted", gone);
}
