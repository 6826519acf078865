import { registerPage } from "../app/registry.ts";

export function registerCases(): void {
  registerPage({
    id: "cases",
    title: "Cases",
    icon: "grid",
    order: 16,
    load: async () => (await import("./CasesPage.tsx")).CasesPage,
  });
}
