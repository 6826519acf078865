/** The place of what is attached; the code that draws it comes with the first file. */
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { itemsOf } from "./tray.ts";

const Tray = lazySlot(async () => (await import("./Tray.tsx")).Tray, {
  failed: (error) => showError("Couldn't show the attached files", error),
});

export function TrayHost({ id }: { id: string }) {
  return itemsOf(id).length > 0 ? <Tray id={id} /> : null;
}
