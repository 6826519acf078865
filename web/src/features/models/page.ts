import { registerPage } from "../../ui/pages/registry.ts";

export function registerModels(): void {
  registerPage({
    id: "models",
    title: "Model endpoints",
    icon: "bulb",
    order: 78,
    load: async () => (await import("./ModelsPage.tsx")).ModelsPage,
  });
}
