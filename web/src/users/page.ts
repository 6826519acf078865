import { registerPage } from "../app/registry.ts";
import { isAdmin, isMultiUser } from "../auth/me.ts";

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
