/** Who in this page listens to which of the service's events. */

export type EventListener = (data: unknown, name: string) => void;

const listeners = new Map<string, Set<EventListener>>();

/**
 * @param name an event's name, or a family with its colon (`session:`).
 * @returns a function that ends the listening.
 */
export function onServerEvent(name: string, listener: EventListener): () => void {
  const found = listeners.get(name) ?? new Set();
  listeners.set(name, found);
  found.add(listener);
  return () => found.delete(listener);
}

/** A listener that fails does not keep the others from hearing. */
export function tellServerEvent(name: string, data: unknown): void {
  const family = name.slice(0, name.indexOf(":") + 1);
  for (const key of new Set([name, family])) {
    for (const listener of listeners.get(key) ?? []) {
      try {
        listener(data, name);
      } catch (error) {
        console.error(`a listener of ${name} failed`, error);
      }
    }
  }
}
