/** The form for a new session; its code comes when it is opened first. */
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { useLeaveField } from "../../ui/useLeaveField.ts";

const NewSession = lazySlot(async () => (await import("./NewSession.tsx")).NewSession, {
  failed: (error) => {
    newSessionOpen.value = false;
    showError("Couldn't open the form", error);
  },
});

export function NewSessionHost() {
  const opens = newSessionOpen.value;
  useLeaveField(opens);
  return opens ? <NewSession /> : null;
}
