/** The width that pages have, as the window and the panel change theirs. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** @returns pixels; 0 until it is known. */
export function useAvailableWidth(place: RefObject<HTMLElement | null>, there: boolean): number {
  const [room, setRoom] = useState(0);
  useEffect(() => {
    if (!place.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setRoom(Math.floor(entry.contentRect.width)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [there]);
  return room;
}
