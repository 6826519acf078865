import { registerPage } from "../../ui/pages/registry.ts";
import { APPROVALS_PAGE } from "./openinbox.ts";
import { approvals, inboxEnabled } from "./state.ts";

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
