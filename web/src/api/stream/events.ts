/** Who in this page listens to which of the service's events. */
import type { EventName, Told } from "../types.ts";

/** A family of events, with its colon: `session:`. */
export type Family = EventName extends infer Name
  ? Name extends `${infer F}:${string}`
    ? `${F}:`
    : never
  : never;

export type EventListener<Data = unknown> = (data: Data, name: string) => void;

const listeners = new Map<string, Set<EventListener>>();

/**
 * @param name an event's name, or a family.
 * @returns a function that ends the listening.
 */
export function onServerEvent<Name extends EventName>(
  name: Name,
  listener: EventListener<Told[Name]>,
): () => void;
export function onServerEvent(name: Family, listener: EventListener): () => void;
export function onServerEvent(name: string, listener: EventListener<never>): () => void {
  const found = listeners.get(name) ?? new Set();
  listeners.set(name, found);
  // What comes under a name is what the service declares for it.
  found.add(listener as EventListener);
  return () => found.delete(listener as EventListener);
}

/** A listener that fails does not keep the others from hearing. */
export function dispatchServerEvent(name: string, data: unknown): void {
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
