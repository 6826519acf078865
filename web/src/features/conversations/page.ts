import { registerPage } from "../../ui/pages/registry.ts";

export function registerConversations(): void {
  registerPage({
    id: "conversations",
    title: "Conversations",
    icon: "history",
    order: 17,
    beside: true,
    load: async () => (await import("./ConversationsPage.tsx")).ConversationsPage,
  });
}
