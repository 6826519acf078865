import { registerPage } from "../../ui/pages/registry.ts";
import { activeSession } from "../../store/state.ts";

export const GIT_PAGE = "git";

export function registerGit(): void {
  registerPage({
    id: GIT_PAGE,
    title: "Changes",
    icon: "branch",
    order: 20,
    beside: true,
    keys: "Alt+Shift+G",
    available: () => activeSession.value !== undefined,
    load: async () => (await import("./GitPage.tsx")).GitPage,
  });
}
