/** What stands in the place of the terminals: a page, a history or a new session, one over the other. */
import { computed } from "@preact/signals";
import { newSessionOpen, historyOpen } from "./openpanels.ts";
import { narrow } from "../width.ts";
import { findPage, openPage } from "./registry.ts";

export type Stage = "page" | "history" | "new";

/** The one in front. */
export const staged = computed<Stage | undefined>(() => {
  if (newSessionOpen.value) return "new";
  if (historyOpen.value) return "history";
  return findPage(openPage.value) && "page";
});

/** The terminals lie below, out of the keyboard's way. */
export const covered = computed(() => !narrow.value && staged.value !== undefined);
