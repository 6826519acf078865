/** What is at the top of the view stays there when the scale changes. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { pageAt } from "./layout.ts";

/** A page, and how far down it, as a part of its height. */
interface Anchor {
  page: number;
  part: number;
}

const pageOf = (scroller: HTMLElement, page: number) => scroller.children[page - 1] as HTMLElement;

/** Read as one scrolls: later the browser may have moved the view, to where the smaller pages end. */
function anchorOf(scroller: HTMLElement): Anchor {
  const page = pageAt(
    scroller.children.length,
    (each) => pageOf(scroller, each).offsetTop,
    scroller.scrollTop,
  );
  const { offsetTop, offsetHeight } = pageOf(scroller, page);
  return { page, part: (scroller.scrollTop - offsetTop) / offsetHeight };
}

export function useAnchor(scroller: RefObject<HTMLElement | null>, scale: number): void {
  const anchor = useRef<Anchor | undefined>(undefined);
  useEffect(() => {
    const place = scroller.current;
    const moved = (): void => {
      if (place) anchor.current = anchorOf(place);
    };
    place?.addEventListener("scroll", moved, { passive: true });
    return () => place?.removeEventListener("scroll", moved);
  }, []);
  useLayoutEffect(() => {
    const place = scroller.current;
    if (!place || !anchor.current) return;
    const { offsetTop, offsetHeight } = pageOf(place, anchor.current.page);
    place.scrollTop = offsetTop + anchor.current.part * offsetHeight;
  }, [scale]);
}
