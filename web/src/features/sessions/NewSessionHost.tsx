/** The form for a new session; its code comes when it is opened first. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";

export function NewSessionHost() {
  const [Form, setForm] = useState<ComponentType>();
  const open = newSessionOpen.value;
  useEffect(() => {
    if (!open || Form) return;
    import("./NewSession.tsx").then(
      ({ NewSession }) => setForm(() => NewSession),
      (error: unknown) => {
        newSessionOpen.value = false;
        showError("Couldn't open the form", error);
      },
    );
  }, [open]);
  return open && Form ? <Form /> : null;
}
