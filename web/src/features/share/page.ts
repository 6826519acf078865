import { openPage, registerPage } from "../../ui/pages/registry.ts";

export const SHARED_PAGE = "shared";

/** In the menu only while it is open: the way to it is another app's share sheet. */
export function registerShared(): void {
  registerPage({
    id: SHARED_PAGE,
    title: "Shared with you",
    icon: "paste",
    order: 80,
    available: () => openPage.value === SHARED_PAGE,
    load: async () => (await import("./SharedPage.tsx")).SharedPage,
  });
}
