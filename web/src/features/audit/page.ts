import { registerPage } from "../../ui/pages/registry.ts";
import { isAdmin } from "../../store/me.ts";

export function registerAudit(): void {
  registerPage({
    id: "audit",
    title: "Audit log",
    icon: "log",
    order: 76,
    available: () => isAdmin.value,
    load: async () => (await import("./AuditPage.tsx")).AuditPage,
  });
}
