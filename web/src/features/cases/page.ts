import { registerPage } from "../../ui/pages/registry.ts";

export function registerCases(): void {
  registerPage({
    id: "cases",
    title: "Workspaces",
    icon: "grid",
    order: 16,
    load: async () => (await import("./CasesPage.tsx")).CasesPage,
  });
}
