/** The code of the frames comes with the first web tab. */
import { useEffect } from "preact/hooks";
import { activeId } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { frontTab, openTabs } from "./state.ts";

const WebFrames = lazySlot(async () => (await import("./WebFrame.tsx")).WebFrames, {
  failed: (error) => showError("Couldn't show the web tab", error),
});

export function WebHost() {
  const active = activeId.value;
  // Whoever chooses a session wants to see it.
  useEffect(() => void (frontTab.value = undefined), [active]);
  return openTabs.value.length > 0 ? <WebFrames /> : null;
}
