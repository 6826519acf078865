import { useEffect, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { historyOpen } from "../../ui/pages/openpanels.ts";
import { showError } from "../../store/toasts.ts";
import type { HistoryProps } from "./HistoryView.tsx";

/** The history needs xterm, so its code comes when it is first opened. */
export function HistoryHost() {
  const wanted = historyOpen.value;
  const [View, setView] = useState<ComponentType<HistoryProps>>();
  useEffect(() => {
    if (!wanted || View) return;
    import("./HistoryView.tsx").then(
      (module) => setView(() => module.HistoryView),
      (error: unknown) => {
        historyOpen.value = undefined;
        showError("Couldn't load the history", error);
      },
    );
  }, [wanted]);
  return wanted && View ? <View {...wanted} /> : null;
}
