import { registerPage } from "../../ui/pages/registry.ts";

export function registerDoctor(): void {
  registerPage({
    id: "doctor",
    title: "Doctor",
    icon: "pulse",
    order: 80,
    load: async () => (await import("./DoctorPage.tsx")).DoctorPage,
  });
}
