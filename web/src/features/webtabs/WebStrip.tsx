/** The open web tabs, in the top bar. */
import { Icon } from "../../ui/Icon.tsx";
import { closeTab, frontTab, openTabs, showTab } from "./state.ts";
import "./strip.css";

export function WebStrip() {
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
