import { registerPage } from "../../ui/pages/registry.ts";
import { isAdmin } from "../../store/me.ts";

export const HOSTS_PAGE = "hosts";

export function registerHosts(): void {
  registerPage({
    id: HOSTS_PAGE,
    title: "Remote hosts",
    icon: "server",
    order: 18,
    available: () => isAdmin.value,
    load: async () => (await import("./HostsPage.tsx")).HostsPage,
  });
}
