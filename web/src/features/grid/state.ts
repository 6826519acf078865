/** The terminals that this browser shows side by side. */
import { computed, effect, signal } from "@preact/signals";
import { readStored, writeStored } from "../../lib/stored.ts";
import { followMedia } from "../../lib/media.ts";
import { activeId, sessionList } from "../../store/state.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import {
  ALONE,
  findNeighbour,
  chooseSession,
  type Layout,
  dropDeadSessions,
  parseLayout,
  type Direction,
} from "./layout.ts";

const KEY = "tservice.grid";
/** On anything narrower one terminal is all that can be read (CSS pixels). */
const LEAST_WIDTH = 701;

/** Of a session that is dragged. */
export const DRAGGED = "application/x-tservice-session";

export const layout = signal<Layout>(ALONE);
export const roomy = signal(false);
/** The window is higher than wide. */
export const tall = signal(false);

/** Several cells, of which one may be as large as all. */
export const gridOn = computed(() => roomy.value && layout.value.count > 1);

/** Puts `next` in place, and its session in front. */
export function applyLayout(next: Layout): void {
  layout.value = next;
  if (next.front !== undefined) activeId.value = next.front;
}

export function moveFocus(way: Direction): void {
  const id = findNeighbour(layout.peek(), tall.peek(), way);
  if (id !== undefined) applyLayout({ ...layout.peek(), front: id });
}

export function toggleZoom(): void {
  if (gridOn.peek()) layout.value = { ...layout.peek(), zoomed: !layout.peek().zoomed };
}

/** The session in front is always in a cell. */
function follow(): void {
  const id = activeId.value;
  const alive = sessionList.value.byId;
  if (!hasReceivedInit.value || !roomy.value) return;
  const now = dropDeadSessions(layout.peek(), (each) => alive.has(each));
  layout.value = id !== undefined && alive.has(id) ? chooseSession(now, id) : now;
}

/** Before the address is read, which knows better what is to be in front. */
export function startGrid(): void {
  layout.value = parseLayout(readStored(KEY));
  followMedia(`(min-width: ${LEAST_WIDTH}px)`, roomy);
  followMedia("(max-aspect-ratio: 1/1)", tall);
  if (gridOn.peek()) activeId.value = layout.peek().front;
  effect(follow);
  effect(() => writeStored(KEY, JSON.stringify(layout.value)));
}

/** Begins to drag a session: to a cell, or within the list it stands in. */
export function dragSession(event: DragEvent, id: string): void {
  event.dataTransfer?.setData(DRAGGED, id);
}

export const isSessionDrag = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes(DRAGGED) ?? false;
