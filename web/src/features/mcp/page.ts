import { registerPage } from "../../ui/pages/registry.ts";

export function registerMcp(): void {
  registerPage({
    id: "mcp",
    title: "MCP servers",
    icon: "send",
    order: 78,
    load: async () => (await import("./McpPage.tsx")).McpPage,
  });
}
