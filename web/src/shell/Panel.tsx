/** Pages beside the live terminal, one at a time. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { restoreDefaultFocus } from "../ui/defaultfocus.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { ResizeHandle } from "../ui/ResizeHandle.tsx";
import {
  panelOpenCount,
  closePanel,
  panelState,
  updatePanel,
  WIDTH_LEAST,
  WIDTH_MOST,
  WIDTH_USUAL,
} from "../ui/pages/panel.ts";
import "./panel.css";
import "../ui/pages/styles.ts";
import { availablePages, openPage, type Page } from "../ui/pages/registry.ts";
import { PageBody } from "./PageBody.tsx";

function leave(): void {
  closePanel();
  restoreDefaultFocus();
}

/** In words where the panel has room for them. */
function Choice({ page, shown }: { page: Page; shown: boolean }) {
  const count = page.count?.() ?? 0;
  const label = count > 0 ? `${page.title} (${count})` : page.title;
  return (
    <button
      type="button"
      class={`icon-button panel-choice ${count > 0 ? "panel-counts" : ""}`}
      aria-label={label}
      aria-pressed={shown}
      title={page.keys ? `${label}  ${page.keys}` : label}
      onClick={() => (openPage.value = page.id)}
      data-testid={`panel-${page.id}`}
    >
      <Icon name={page.icon} />
      <span class="panel-word">{label}</span>
    </button>
  );
}

export function Panel({ page }: { page: Page }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const turn = panelOpenCount.value;
  useLayoutEffect(() => {
    if (turn > 0) heading.current?.focus();
  }, [turn]);
  // A field's own Escape comes first.
  const escape = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.defaultPrevented) restoreDefaultFocus();
  };
  return (
    <aside
      class="panel"
      style={{ "--panel": `${panelState.value.width}px` }}
      aria-label={page.title}
      onKeyDown={escape}
      data-testid={`page-${page.id}`}
    >
      <ResizeHandle
        label="Panel width"
        width={panelState.value.width}
        least={WIDTH_LEAST}
        most={WIDTH_MOST}
        usual={WIDTH_USUAL}
        onWidth={(width) => updatePanel({ width })}
        testid="panel-edge"
      />
      <header class="panel-head">
        <h2 ref={heading} tabIndex={-1}>
          {page.title}
        </h2>
        <div class="panel-choices">
          {availablePages()
            .filter((each) => each.beside)
            .map((each) => (
              <Choice key={each.id} page={each} shown={each === page} />
            ))}
        </div>
        <IconButton icon="close" label="Close panel" onClick={leave} testid="panel-close" />
      </header>
      <div class="panel-body">
        <PageBody key={page.id} page={page} />
      </div>
    </aside>
  );
}
