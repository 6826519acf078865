/** The place of what is attached; the code that draws it comes with the first file. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";
import { itemsOf } from "./tray.ts";

export function TrayHost({ id }: { id: string }) {
  const wanted = itemsOf(id).length > 0;
  const [Tray, setTray] = useState<ComponentType<{ id: string }>>();
  useEffect(() => {
    if (!wanted || Tray) return;
    import("./Tray.tsx").then(
      (loaded) => setTray(() => loaded.Tray),
      (error: unknown) => showError("Couldn't show the attached files", error),
    );
  }, [wanted]);
  return wanted && Tray ? <Tray id={id} /> : null;
}
