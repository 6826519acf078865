/** Where the terminals live. Their code comes with the first session that is shown. */
import type { ComponentType, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { filesIn, attachFiles } from "../attach/tray.ts";
import { putSessionInCell, resizeLayout } from "../grid/layout.ts";
import { applyLayout, DRAGGED, gridOn, layout, roomy, tall } from "../grid/state.ts";
import { activeId, activeSession } from "../store/state.ts";
import { showError } from "../ui/toasts.ts";
import { setDefaultFocus } from "../ui/defaultfocus.ts";
import { menuAt } from "../ui/menu.ts";
import { currentView } from "./current.ts";
import { historyOpen, searchOpen } from "./openpanels.ts";
import { Overlay } from "./Overlay.tsx";
import type { TerminalPool } from "./pool.ts";
import { SearchBar } from "./SearchBar.tsx";
import { terminalItems } from "./terminalmenu.ts";
import { coarse } from "../touch/state.ts";
import type { TerminalView } from "./view.ts";

const modalOpen = (): boolean => document.querySelector("dialog[open]") !== null;

const KEPT = "[role=tablist], .cell-head, :is(input, textarea, select):not(.terminal-host *)";

/**
 * Taking the focus on a phone would open its keyboard, from a tab it would break walking, and from
 * a field what is typed next would go to the program.
 */
function mayFocus(): boolean {
  return !coarse.value && !modalOpen() && !document.activeElement?.closest(KEPT);
}

export function takeFocus(): void {
  if (mayFocus()) currentView.peek()?.focus();
}

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

/** A program that uses the mouse gets the right button too, unless Shift is held. */
export function contextMenu(event: MouseEvent, view: TerminalView | undefined): void {
  if (!view) return;
  event.preventDefault();
  const mouse = view.screen.terminal.modes.mouseTrackingMode !== "none";
  if (mouse && !event.shiftKey) return;
  menuAt("Terminal", terminalItems(view), event.clientX, event.clientY);
}

/** A browser would leave the page for a file that is dropped on it. */
export function drop(event: DragEvent, view: TerminalView | undefined): void {
  event.preventDefault();
  if (!view) return;
  const files = filesIn(event.dataTransfer);
  if (files.length > 0) attachFiles(view.sessionId, files);
  else void view.clipping.paste(event.dataTransfer?.getData("text/plain") ?? "");
}

export const allowDrop = (event: DragEvent): void => event.preventDefault();

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
