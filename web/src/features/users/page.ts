import { registerPage } from "../../ui/pages/registry.ts";
import { isAdmin, isMultiUser } from "../../store/me.ts";

export function registerUsers(): void {
  registerPage({
    id: "users",
    title: "Users",
    icon: "users",
    order: 74,
    available: () => isAdmin.value && isMultiUser.value,
    load: async () => (await import("./UsersPage.tsx")).UsersPage,
  });
}
