import { registerPage } from "../../ui/pages/registry.ts";
import { followOffers } from "./offers.ts";

export const WEBTABS_PAGE = "webtabs";

export function registerWebTabs(): void {
  followOffers();
  registerPage({
    id: WEBTABS_PAGE,
    title: "Web tabs",
    icon: "screen",
    order: 28,
    load: async () => (await import("./WebTabsPage.tsx")).WebTabsPage,
  });
}
