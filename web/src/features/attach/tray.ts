/** Files that were pasted, dropped or chosen and are not sent yet, by session. */
import { signal } from "@preact/signals";
import type { Kept } from "../files/state.ts";

export interface Item {
  key: number;
  name: string;
  /** A picture's own address in this page. */
  thumb?: string;
  /** What part of it is uploaded, 0 to 1. */
  part: number;
  kept?: Kept;
  problem?: string;
  /** It was pasted into the agent by itself already; only its prompt is to follow. */
  pasted?: boolean;
}

export const tray = signal<ReadonlyMap<string, readonly Item[]>>(new Map());

export const itemsOf = (id: string): readonly Item[] => tray.value.get(id) ?? [];

/** @returns the files of a paste or drop; none where there is text, which programs copy pictures of. */
export function filesIn(data: DataTransfer | null): File[] {
  if (!data || data.getData("text/plain") !== "") return [];
  return [...data.files];
}

export function putItems(id: string, items: readonly Item[]): void {
  const next = new Map(tray.peek());
  if (items.length > 0) next.set(id, items);
  else next.delete(id);
  tray.value = next;
}

/** What was sent is no longer in the tray. */
export function clearTray(id: string): void {
  for (const { thumb } of tray.peek().get(id) ?? []) if (thumb !== undefined) URL.revokeObjectURL(thumb);
  putItems(id, []);
}
