/** Which pages are in view or near it, and which one a person is at. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { pageAt } from "./layout.ts";

/** A page counts as read from where it is so far up, as a part of the view. */
const READ_AT = 0.4;

const pageAmong = (scroller: HTMLElement): number => {
  const height = scroller.scrollTop + scroller.clientHeight * READ_AT;
  const top = (page: number): number => (scroller.children[page - 1] as HTMLElement).offsetTop;
  return pageAt(scroller.children.length, top, height);
};

/** @param pages children of the scroller, in order; 0 while there are none. */
export function useNearViewport(scroller: RefObject<HTMLElement | null>, pages: number) {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  const [current, setCurrent] = useState(1);
  useEffect(() => {
    const place = scroller.current;
    if (!place || pages === 0) return;
    const inView = new Set<number>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const page = Number((target as HTMLElement).dataset["page"]);
          if (isIntersecting) inView.add(page);
          else inView.delete(page);
        }
        setNear(new Set(inView));
      },
      { root: place, rootMargin: "50% 0px" },
    );
    for (const page of place.children) observer.observe(page);
    const moved = (): void => setCurrent(pageAmong(place));
    place.addEventListener("scroll", moved, { passive: true });
    return () => {
      observer.disconnect();
      place.removeEventListener("scroll", moved);
    };
  }, [pages]);
  return { near, current };
}
