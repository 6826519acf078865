/** The code of the frames comes with the first web tab. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { activeId } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { frontTab, openTabs } from "./state.ts";

export function WebHost() {
  const [Body, setBody] = useState<ComponentType>();
  const wanted = openTabs.value.length > 0;
  const active = activeId.value;
  // Whoever chooses a session wants to see it.
  useEffect(() => void (frontTab.value = undefined), [active]);
  useEffect(() => {
    if (!wanted || Body) return;
    import("./WebFrame.tsx").then(
      (module) => setBody(() => module.WebFrames),
      (error: unknown) => showError("Couldn't show the web tab", error),
    );
  }, [wanted]);
  return wanted && Body ? <Body /> : null;
}
