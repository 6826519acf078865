/** Opens the inbox, for whoever leads to it. */
import { signal } from "@preact/signals";
import { openPage } from "../../ui/pages/registry.ts";

export const APPROVALS_PAGE = "approvals";

/** Counts how often a person asked for the inbox. */
export const inboxAsked = signal(0);

/** The session whose card alone may take the focus; undefined: any. */
export const wantedCard = signal<string | undefined>(undefined);

/** Open the inbox at the item of the session in front, also where the inbox is open already. */
export function openInbox(): void {
  wantedCard.value = undefined;
  open();
}

/** Open the inbox at the item of a session, which the page may learn of only later. */
export function openInboxAt(sessionId: string): void {
  wantedCard.value = sessionId;
  open();
}

function open(): void {
  inboxAsked.value = inboxAsked.peek() + 1;
  openPage.value = APPROVALS_PAGE;
}
