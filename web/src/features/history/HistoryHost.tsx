import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { historyOpen } from "../../ui/pages/openpanels.ts";
import { useLeaveField } from "../../ui/useLeaveField.ts";

/** The history needs xterm, so its code comes when it is first opened. */
const HistoryView = lazySlot(async () => (await import("./HistoryView.tsx")).HistoryView, {
  failed: (error) => {
    historyOpen.value = undefined;
    showError("Couldn't load the history", error);
  },
});

export function HistoryHost() {
  const wanted = historyOpen.value;
  useLeaveField(wanted !== undefined);
  return wanted ? <HistoryView {...wanted} /> : null;
}
