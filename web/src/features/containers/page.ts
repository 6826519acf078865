import { registerPage } from "../../ui/pages/registry.ts";
import { isAdmin } from "../../store/me.ts";

export const CONTAINERS_PAGE = "containers";

export function registerContainers(): void {
  registerPage({
    id: CONTAINERS_PAGE,
    title: "Containers",
    icon: "box",
    order: 19,
    available: () => isAdmin.value,
    load: async () => (await import("./ContainersPage.tsx")).ContainersPage,
  });
}
