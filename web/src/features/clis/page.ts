import { registerPage } from "../../ui/pages/registry.ts";

export function registerClis(): void {
  registerPage({
    id: "clis",
    title: "Agents",
    icon: "play",
    order: 77,
    load: async () => (await import("./ClisPage.tsx")).ClisPage,
  });
}
