import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * For the button that opened something within a page: it gets the keyboard back when that has
 * closed and nothing else has taken it.
 */
export function useReturnFocus(open: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const was = useRef(open);
  useLayoutEffect(() => {
    if (was.current && !open && document.activeElement === document.body) button.current?.focus();
    was.current = open;
  }, [open]);
  return button;
}
