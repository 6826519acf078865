/** What changes of sessions that are out of reach. */
import { type Unreachable, unreachableSessions, queuedInput } from "./state.ts";

export function addQueuedInput(id: string, chars: number): void {
  queuedInput.value = new Map(queuedInput.peek()).set(id, (queuedInput.peek().get(id) ?? 0) + chars);
}

function dropQueuedInput(id: string): void {
  if (!queuedInput.peek().has(id)) return;
  const next = new Map(queuedInput.peek());
  next.delete(id);
  queuedInput.value = next;
}

/** @param part undefined: it is reached, and what was kept is typed. */
export function setUnreachable(id: string, part: Unreachable | undefined): void {
  const before = unreachableSessions.peek();
  if (part === undefined) dropQueuedInput(id);
  if (part === undefined && !before.has(id)) return;
  const next = new Map(before);
  if (part === undefined) next.delete(id);
  else next.set(id, { ...before.get(id), ...part });
  unreachableSessions.value = next;
}
