import { registerPage } from "../../ui/pages/registry.ts";

export function registerTimedRuns(): void {
  registerPage({
    id: "timed",
    title: "Keep-going runs",
    icon: "play",
    order: 32,
    load: async () => (await import("./TimedRunsPage.tsx")).TimedRunsPage,
  });
}
