/** The order of the tabs. */

interface Place {
  id: string;
  pinned: boolean;
}

/**
 * @param to the index the session should get; pinned ones stay in front of all others.
 * @returns the new order, or undefined when nothing moves.
 */
export function moveSession(shown: readonly Place[], id: string, to: number): string[] | undefined {
  const from = shown.findIndex((place) => place.id === id);
  const place = shown[from];
  if (!place) return undefined;
  const pins = shown.filter((each) => each.pinned).length;
  const [least, most] = place.pinned ? [0, pins - 1] : [pins, shown.length - 1];
  const target = Math.max(least, Math.min(most, to));
  if (target === from) return undefined;
  const order = shown.map((each) => each.id).filter((each) => each !== id);
  order.splice(target, 0, id);
  return order;
}

/** The session `step` places on, around the end; the first or last when none is in front. */
export function neighbour(ids: readonly string[], id: string | undefined, step: number): string | undefined {
  if (ids.length === 0) return undefined;
  const at = id === undefined ? -1 : ids.indexOf(id);
  if (at < 0) return step > 0 ? ids[0] : ids.at(-1);
  return ids[(at + step + ids.length) % ids.length];
}
