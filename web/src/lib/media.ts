import type { Signal } from "@preact/signals";

/** Keeps in `target` whether a media query matches. */
export function followMedia(query: string, target: Signal<boolean>): void {
  const media = matchMedia(query);
  target.value = media.matches;
  media.addEventListener("change", (event) => (target.value = event.matches));
}
