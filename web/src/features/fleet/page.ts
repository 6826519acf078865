import { openPage, registerPage } from "../../ui/pages/registry.ts";

export const FLEET_PAGE = "fleet";

export function toggleFleet(): void {
  openPage.value = openPage.peek() === FLEET_PAGE ? undefined : FLEET_PAGE;
}

export function registerFleet(): void {
  registerPage({
    id: FLEET_PAGE,
    title: "Fleet",
    icon: "grid",
    order: 5,
    keys: "Alt+Shift+F",
    load: async () => (await import("./FleetPage.tsx")).FleetPage,
  });
}
