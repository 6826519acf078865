/** Lists of things that one decides on: their places last while the pointer rests on them. */
import { useRef, useState } from "preact/hooks";
import { type Held, holdPlaces } from "./held.ts";

/** @returns whether a mouse is over an element, and the handlers that find out. */
export function usePointerInside() {
  const [inside, setInside] = useState(false);
  const enter = (event: PointerEvent) => event.pointerType === "mouse" && setInside(true);
  return { inside, onPointerEnter: enter, onPointerMove: enter, onPointerLeave: () => setInside(false) };
}

/** @param keeps whether one that left the list keeps its place; reads signals. */
export function useHeld<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  keeps: (key: string) => boolean,
  still: boolean,
): readonly Held<T>[] {
  const shown = useRef<readonly Held<T>[]>([]);
  shown.current = holdPlaces(shown.current, items, keyOf, keeps, still);
  return shown.current;
}
