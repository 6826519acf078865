import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Puts the caret into a form's first field when it appears: `autofocus` works once a page. */
export function useFirstField(): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  // At once: what is typed into the next field meanwhile would go into this one.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>(".field:not([readonly])")?.focus(), []);
  return form;
}
