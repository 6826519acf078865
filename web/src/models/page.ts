import { registerPage } from "../app/registry.ts";

export function registerModels(): void {
  registerPage({
    id: "models",
    title: "Model endpoints",
    icon: "bulb",
    order: 78,
    load: async () => (await import("./ModelsPage.tsx")).ModelsPage,
  });
}
