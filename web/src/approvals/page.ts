import { registerPage } from "../app/registry.ts";
import { approvals, inboxEnabled } from "./state.ts";

export const APPROVALS_PAGE = "approvals";

export function registerApprovals(): void {
  registerPage({
    id: APPROVALS_PAGE,
    title: "Waiting for you",
    icon: "bell",
    order: 10,
    beside: true,
    keys: "Alt+Shift+A",
    available: () => inboxEnabled.value,
    count: () => approvals.value.length,
    load: async () => (await import("./Inbox.tsx")).Inbox,
  });
}
