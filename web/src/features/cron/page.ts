import { registerPage } from "../../ui/pages/registry.ts";

export const CRON_PAGE = "cron";

export function registerCron(): void {
  registerPage({
    id: CRON_PAGE,
    title: "Scheduled jobs",
    icon: "clock",
    order: 30,
    beside: true,
    keys: "Alt+Shift+J",
    load: async () => (await import("./CronPage.tsx")).CronPage,
  });
}
