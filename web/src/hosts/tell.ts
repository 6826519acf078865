/** What changes of sessions that are out of reach. */
import { type Away, away, held } from "./state.ts";

export function hold(id: string, chars: number): void {
  held.value = new Map(held.peek()).set(id, (held.peek().get(id) ?? 0) + chars);
}

function letGo(id: string): void {
  if (!held.peek().has(id)) return;
  const next = new Map(held.peek());
  next.delete(id);
  held.value = next;
}

/** @param part undefined: it is reached, and what was kept is typed. */
export function tellAway(id: string, part: Away | undefined): void {
  const before = away.peek();
  if (part === undefined) letGo(id);
  if (part === undefined && !before.has(id)) return;
  const next = new Map(before);
  if (part === undefined) next.delete(id);
  else next.set(id, { ...before.get(id), ...part });
  away.value = next;
}
