/** @returns ids to give up so that `wanted` fits; `recent` runs from the oldest to the newest. */
export function surplus(recent: readonly string[], wanted: string, most: number): string[] {
  const others = recent.filter((id) => id !== wanted);
  return others.slice(0, Math.max(0, others.length - (most - 1)));
}
