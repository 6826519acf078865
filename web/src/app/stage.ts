/** What stands in the place of the terminals: a page, a history or a new session, one over the other. */
import { computed, signal } from "@preact/signals";
import { newSessionOpen } from "../sessions/newsession.ts";
import { historyOpen } from "../terminal/openpanels.ts";
import { findPage, openPage } from "./registry.ts";

/** Where a window has room for nothing beside what is read, they stand over everything instead. */
export const NARROW = "(max-width: 700px)";

export const narrow = signal(false);

export type Stage = "page" | "history" | "new";

/** The one in front. */
export const staged = computed<Stage | undefined>(() => {
  if (newSessionOpen.value) return "new";
  if (historyOpen.value) return "history";
  return findPage(openPage.value) && "page";
});

/** The terminals lie below, out of the keyboard's way. */
export const covered = computed(() => !narrow.value && staged.value !== undefined);

export function followNarrow(): void {
  const query = matchMedia(NARROW);
  narrow.value = query.matches;
  query.addEventListener("change", (event) => (narrow.value = event.matches));
}
