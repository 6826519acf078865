import { registerPage } from "../../ui/pages/registry.ts";

export function registerHelp(): void {
  registerPage({
    id: "help",
    title: "Keyboard shortcuts",
    icon: "help",
    order: 95,
    keys: "Ctrl+Shift+/",
    load: async () => (await import("./HelpPage.tsx")).HelpPage,
  });
}
