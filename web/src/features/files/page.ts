import { registerPage } from "../../ui/pages/registry.ts";
import { activeSession } from "../../store/state.ts";
import { FILES_PAGE } from "./state.ts";

export function registerFiles(): void {
  registerPage({
    id: FILES_PAGE,
    title: "Files",
    icon: "folder",
    order: 18,
    beside: true,
    available: () => activeSession.value !== undefined,
    load: async () => (await import("./FilesPage.tsx")).FilesPage,
  });
}
