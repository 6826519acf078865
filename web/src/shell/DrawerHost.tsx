/** The list of sessions from the side; its code comes early where nothing else lists them. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { hasReceivedInit } from "../api/stream/connection.ts";
import { showError } from "../store/toasts.ts";
import { wide } from "../ui/width.ts";
import { drawerOpen } from "./draweropen.ts";

export function DrawerHost() {
  const [List, setList] = useState<ComponentType>();
  const open = drawerOpen.value;
  const wanted = open || (hasReceivedInit.value && !wide.value);
  useEffect(() => {
    if (!wanted || List) return;
    import("./Drawer.tsx").then(
      ({ Drawer }) => setList(() => Drawer),
      (error: unknown) => {
        drawerOpen.value = false;
        showError("Couldn't open the session list", error);
      },
    );
  }, [wanted]);
  return open && List ? <List /> : null;
}
