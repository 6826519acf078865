import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Puts the caret into a form's first field when it appears: `autofocus` works once a page. */
export function useFirstField(): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>(".field:not([readonly])")?.focus(), []);
  return form;
}
