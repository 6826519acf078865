/** The code of the frames comes with the first web tab. */
import { Icon } from "../../ui/Icon.tsx";
import { closeTab, frontTab, openTabs, showTab } from "./state.ts";
import { useEffect } from "preact/hooks";
import { activeId } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import "./strip.css";

/** Nothing is loaded and nothing stands there before a web tab is open. */
export function WebStrip() {
  if (openTabs.value.length === 0) return null;
  return (
    <div class="webstrip" role="group" aria-label="Web tabs" data-testid="webstrip">
      {openTabs.value.map((tab) => (
        <button
          key={tab.id}
          type="button"
          class="webstrip-tab"
          aria-pressed={tab.id === frontTab.value}
          title={tab.url}
          onClick={() => (tab.id === frontTab.value ? (frontTab.value = undefined) : showTab(tab))}
          onAuxClick={(event) => event.button === 1 && closeTab(tab.id)}
          data-testid="webstrip-tab"
        >
          <Icon name="screen" size={14} /> <span>{tab.name}</span>
        </button>
      ))}
    </div>
  );
}

const WebFrames = lazySlot(async () => (await import("./WebFrame.tsx")).WebFrames, {
  failed: (error) => showError("Couldn't show the web tab", error),
});

export function WebHost() {
  const active = activeId.value;
  // Whoever chooses a session wants to see it.
  useEffect(() => void (frontTab.value = undefined), [active]);
  return openTabs.value.length > 0 ? <WebFrames /> : null;
}
