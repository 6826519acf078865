import { registerPage } from "../../ui/pages/registry.ts";
import { APPROVALS_PAGE } from "./openinbox.ts";
import { inboxEnabled, sessionsNeedingPerson } from "./state.ts";

export function registerApprovals(): void {
  registerPage({
    id: APPROVALS_PAGE,
    title: "Inbox",
    icon: "bell",
    order: 10,
    beside: true,
    keys: "Alt+Shift+A",
    available: () => inboxEnabled.value,
    count: () => sessionsNeedingPerson.value.size,
    load: async () => (await import("./Inbox.tsx")).Inbox,
  });
}
