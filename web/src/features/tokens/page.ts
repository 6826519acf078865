import { registerPage } from "../../ui/pages/registry.ts";

export function registerTokens(): void {
  registerPage({
    id: "tokens",
    title: "Tokens",
    icon: "key",
    order: 72,
    load: async () => (await import("./TokensPage.tsx")).TokensPage,
  });
}
