/** The code of the frames comes with the first web tab. */
import { frontTab, openTabs } from "./state.ts";
import { useEffect } from "preact/hooks";
import { activeId } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";

const failed = (error: unknown) => showError("Couldn't show the web tab", error);

const WebStrip = lazySlot(async () => (await import("./WebStrip.tsx")).WebStrip, { failed });

/** Nothing is loaded and nothing stands there before a web tab is open. */
export const WebStripHost = () => (openTabs.value.length > 0 ? <WebStrip /> : null);

const WebFrames = lazySlot(async () => (await import("./WebFrame.tsx")).WebFrames, { failed });

export function WebHost() {
  const active = activeId.value;
  // Whoever chooses a session wants to see it.
  useEffect(() => void (frontTab.value = undefined), [active]);
  return openTabs.value.length > 0 ? <WebFrames /> : null;
}
