import { registerPage } from "../app/registry.ts";
import { isAdmin } from "../auth/me.ts";

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
