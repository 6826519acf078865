import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";
import { paletteOpen } from "./state.ts";

export function PaletteHost() {
  const [Body, setBody] = useState<ComponentType>();
  const open = paletteOpen.value;
  useEffect(() => {
    if (!open || Body) return;
    import("./Palette.tsx").then(
      (module) => setBody(() => module.Palette),
      (error: unknown) => {
        paletteOpen.value = false;
        showError("Couldn't open the command palette", error);
      },
    );
  }, [open]);
  return open && Body ? <Body /> : null;
}
