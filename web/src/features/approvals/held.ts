/** A list that does not move under the pointer, as a pure value. */

export interface Held<T> {
  item: T;
  /** Left the list, and keeps its place for now. */
  gone: boolean;
}

/**
 * @param before what is shown.
 * @param items what the list should be.
 * @param keeps whether one that left the list keeps its place.
 * @param still nothing may change its place: new ones come last.
 */
export function holdPlaces<T>(
  before: readonly Held<T>[],
  items: readonly T[],
  keyOf: (item: T) => string,
  keeps: (key: string) => boolean,
  still: boolean,
): Held<T>[] {
  const now = new Map(items.map((item) => [keyOf(item), item]));
  const kept = before.flatMap(({ item }): Held<T>[] => {
    const key = keyOf(item);
    const found = now.get(key);
    if (found !== undefined) return [{ item: found, gone: false }];
    return still || keeps(key) ? [{ item, gone: true }] : [];
  });
  if (!still && kept.every(({ gone }) => !gone)) return items.map((item) => ({ item, gone: false }));
  const known = new Set(kept.map(({ item }) => keyOf(item)));
  const more = items.filter((item) => !known.has(keyOf(item)));
  return [...kept, ...more.map((item) => ({ item, gone: false }))];
}
