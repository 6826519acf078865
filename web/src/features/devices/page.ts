import { registerPage } from "../../ui/pages/registry.ts";
import { isAdmin } from "../../store/me.ts";
import { watchDevices } from "./state.ts";

export function registerDevices(): void {
  watchDevices();
  registerPage({
    id: "devices",
    title: "Devices and QR code",
    icon: "devices",
    order: 70,
    available: () => isAdmin.value,
    load: async () => (await import("./DevicesPage.tsx")).DevicesPage,
  });
}
