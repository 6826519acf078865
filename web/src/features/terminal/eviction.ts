/** @returns ids to give up so that all `wanted` fit; `recent` runs from the oldest to the newest. */
export function selectEvicted(recent: readonly string[], wanted: readonly string[], most: number): string[] {
  const others = recent.filter((id) => !wanted.includes(id));
  return others.slice(0, Math.max(0, others.length - Math.max(0, most - wanted.length)));
}
