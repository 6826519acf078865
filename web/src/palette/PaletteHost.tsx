import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { failed } from "../ui/toasts.ts";
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
        failed("Commands could not be shown", error);
      },
    );
  }, [open]);
  return open && Body ? <Body /> : null;
}
