import { signal } from "@preact/signals";
import { openPage, registerPage } from "../app/registry.ts";
import { approvals, inboxEnabled } from "./state.ts";

export const APPROVALS_PAGE = "approvals";

/** Counts how often a person asked for the inbox. */
export const inboxAsked = signal(0);

/** Open the inbox at the item of the session in front, also where the inbox is open already. */
export function openInbox(): void {
  inboxAsked.value = inboxAsked.peek() + 1;
  openPage.value = APPROVALS_PAGE;
}

export function registerApprovals(): void {
  registerPage({
    id: APPROVALS_PAGE,
    title: "Inbox",
    icon: "bell",
    order: 10,
    beside: true,
    keys: "Alt+Shift+A",
    available: () => inboxEnabled.value,
    count: () => approvals.value.length,
    load: async () => (await import("./Inbox.tsx")).Inbox,
  });
}
