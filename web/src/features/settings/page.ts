import { registerPage } from "../../ui/pages/registry.ts";

export function registerSettings(): void {
  registerPage({
    id: "settings",
    title: "Settings",
    icon: "settings",
    order: 90,
    keys: "Alt+Shift+S",
    load: async () => (await import("./SettingsPage.tsx")).SettingsPage,
  });
}
