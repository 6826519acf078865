import { registerPage } from "../../ui/pages/registry.ts";
import { offer, outcomes } from "./state.ts";

export const RESTORE_PAGE = "restore";

export function registerRestore(): void {
  registerPage({
    id: RESTORE_PAGE,
    title: "Restore sessions",
    icon: "refresh",
    order: 15,
    available: () => (offer.value?.sessions.length ?? 0) > 0 || outcomes.value.size > 0,
    count: () => offer.value?.sessions.length ?? 0,
    load: async () => (await import("./RestorePage.tsx")).RestorePage,
  });
}
