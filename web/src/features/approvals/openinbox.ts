/** Opens the inbox, for whoever leads to it. */
import { signal } from "@preact/signals";
import { openPage } from "../../ui/pages/registry.ts";

export const APPROVALS_PAGE = "approvals";

/** Counts how often a person asked for the inbox. */
export const inboxAsked = signal(0);

/** Open the inbox at the item of the session in front, also where the inbox is open already. */
export function openInbox(): void {
  inboxAsked.value = inboxAsked.peek() + 1;
  openPage.value = APPROVALS_PAGE;
}
