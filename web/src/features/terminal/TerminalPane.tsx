/** Where the terminals live. Their code comes with the first session that is shown. */
import type { ComponentType, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { view } from "../conversation/choice.ts";
import { putSessionInCell, resizeLayout } from "../grid/layout.ts";
import { applyLayout, DRAGGED, gridOn, layout, roomy, tall } from "../grid/state.ts";
import { activeId, activeSession } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { setDefaultFocus } from "../../ui/defaultfocus.ts";
import { currentView } from "./current.ts";
import { historyOpen, searchOpen } from "../../ui/pages/openpanels.ts";
import { Overlay } from "./Overlay.tsx";
import { allowDrop, contextMenu, drop, takeFocus } from "./pane.ts";
import type { TerminalPool } from "./pool.ts";
import { SearchBar } from "./SearchBar.tsx";

/** The code came late: whoever walked on through the page since they chose keeps the keyboard. */
function takeFocusOf(chooser: Element | null): void {
  const focused = document.activeElement;
  if (focused === document.body || focused === chooser) takeFocus();
}

function usePool(chooser: RefObject<Element | null>) {
  const holder = useRef<HTMLDivElement>(null);
  const [pool, setPool] = useState<TerminalPool>();
  useEffect(() => {
    let alive = true;
    let made: TerminalPool | undefined;
    setDefaultFocus(takeFocus);
    import("./pool.ts").then(
      ({ TerminalPool }) => {
        if (!alive || !holder.current) return;
        made = new TerminalPool(holder.current);
        setPool(made);
        if (gridOn.peek()) return;
        made.show(activeId.peek());
        takeFocusOf(chooser.current);
      },
      (error: unknown) => showError("Couldn't load the terminal", error),
    );
    return () => {
      alive = false;
      made?.close();
    };
  }, []);
  return { holder, pool };
}

/** A session that is dropped on the only terminal stands beside it from then on. */
function dropAlone(event: DragEvent): void {
  const id = event.dataTransfer?.getData(DRAGGED);
  if (!id || !roomy.peek()) return drop(event, currentView.peek());
  event.preventDefault();
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const two = resizeLayout(layout.peek(), 2, []);
  const first = tall.peek()
    ? event.clientY < box.top + box.height / 2
    : event.clientX < box.left + box.width / 2;
  const beside =
    two.front === id
      ? two
      : putSessionInCell(first ? { ...two, cells: two.cells.toReversed() } : two, id, first ? 0 : 1);
  applyLayout(beside);
}

/** Its code comes when there is first more than one cell. */
function useGrid(): ComponentType<{ pool: TerminalPool }> | undefined {
  const [Grid, setGrid] = useState<ComponentType<{ pool: TerminalPool }>>();
  const on = gridOn.value;
  useEffect(() => {
    if (!on || Grid) return;
    import("../grid/Grid.tsx").then(
      ({ Grid: loaded }) => setGrid(() => loaded),
      (error: unknown) => {
        applyLayout(resizeLayout(layout.peek(), 1, []));
        showError("Couldn't load the terminals", error);
      },
    );
  }, [on]);
  return on ? Grid : undefined;
}

export function TerminalPane() {
  const chooser = useRef<Element | null>(null);
  const { holder, pool } = usePool(chooser);
  const Grid = useGrid();
  const id = activeId.value;
  const name = activeSession.value?.name ?? "";
  const several = Grid !== undefined && pool !== undefined;
  useEffect(() => {
    searchOpen.value = false;
    historyOpen.value = undefined;
  }, [id]);
  useEffect(() => {
    if (gridOn.peek()) return;
    if (!pool) chooser.current = document.activeElement;
    pool?.show(id);
    takeFocus();
  }, [id, gridOn.value]);
  return (
    <section
      class="pane"
      id="terminal-panel"
      role="tabpanel"
      aria-label={several ? `${layout.value.count} terminals` : `Terminal of ${name}`}
      // The conversation lies over it; its size stays, so that no program has to redraw.
      inert={view.value === "conversation"}
      data-testid="pane"
    >
      {!several && searchOpen.value && <SearchBar />}
      <div
        ref={holder}
        class="holder"
        hidden={several}
        onContextMenu={(event) => contextMenu(event, currentView.peek())}
        onDragOver={allowDrop}
        onDrop={dropAlone}
      />
      {several ? <Grid pool={pool} /> : <Overlay view={currentView.value} />}
    </section>
  );
}
