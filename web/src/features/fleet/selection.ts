/** The sessions that are chosen, to be dealt with at once. */
import { computed, signal } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { sessionList } from "../../store/state.ts";

/** Boxes to choose with stand at every row. */
export const selecting = signal(false);

const ids = signal<ReadonlySet<string>>(new Set());
let last: string | undefined;

/** In the order in which they were chosen; one that has gone is chosen no more. */
export const chosen = computed<Session[]>(() =>
  [...ids.value].flatMap((id) => sessionList.value.byId.get(id) ?? []),
);

export const isChosen = (id: string): boolean => ids.value.has(id);

export function choose(id: string, wanted = !ids.peek().has(id)): void {
  const next = new Set(ids.peek());
  if (wanted) next.add(id);
  else next.delete(id);
  last = id;
  ids.value = next;
  selecting.value = next.size > 0;
}

/** All from the one that was chosen last to this one. @param shown all, as they stand. */
export function chooseThrough(id: string, shown: readonly string[]): void {
  const from = last === undefined ? -1 : shown.indexOf(last);
  const to = shown.indexOf(id);
  if (from < 0) return choose(id, true);
  for (const each of shown.slice(Math.min(from, to), Math.max(from, to) + 1)) choose(each, true);
}

export function clearSelection(): void {
  ids.value = new Set();
  last = undefined;
  selecting.value = false;
}
