/** Where the terminals live. Their code comes with the first session that is shown. */
import { useEffect, useRef } from "preact/hooks";
import { filesIn, take } from "../attach/tray.ts";
import { activeId, activeSession } from "../store/state.ts";
import { failed } from "../ui/toasts.ts";
import { setFocusHome } from "../ui/focushome.ts";
import { menuAt } from "../ui/menu.ts";
import { historyOpen, searchOpen, currentView } from "./current.ts";
import { Overlay } from "./Overlay.tsx";
import type { TerminalPool } from "./pool.ts";
import { SearchBar } from "./SearchBar.tsx";
import { terminalItems } from "./terminalmenu.ts";
import { coarse } from "../touch/state.ts";

const modalOpen = (): boolean => document.querySelector("dialog[open]") !== null;

const KEPT = "[role=tablist], :is(input, textarea, select):not(.terminal-host *)";

/**
 * Taking the focus on a phone would open its keyboard, from a tab it would break walking, and from
 * a field what is typed next would go to the program.
 */
function mayFocus(): boolean {
  return !coarse.value && !modalOpen() && !document.activeElement?.closest(KEPT);
}

function takeFocus(): void {
  if (mayFocus()) currentView.peek()?.focus();
}

/** The code came late: whoever walks through the page meanwhile keeps the keyboard. */
function takeFocusOfNobody(): void {
  if (document.activeElement === document.body) takeFocus();
}

function usePool() {
  const holder = useRef<HTMLDivElement>(null);
  const pool = useRef<TerminalPool | undefined>(undefined);
  useEffect(() => {
    let alive = true;
    setFocusHome(takeFocus);
    import("./pool.ts").then(
      ({ TerminalPool }) => {
        if (!alive || !holder.current) return;
        pool.current = new TerminalPool(holder.current);
        pool.current.show(activeId.peek());
        takeFocusOfNobody();
      },
      (error: unknown) => failed("The terminal could not be loaded", error),
    );
    return () => {
      alive = false;
      pool.current?.close();
    };
  }, []);
  return { holder, pool };
}

/** A program that uses the mouse gets the right button too, unless Shift is held. */
function contextMenu(event: MouseEvent): void {
  const view = currentView.value;
  if (!view) return;
  event.preventDefault();
  const mouse = view.screen.terminal.modes.mouseTrackingMode !== "none";
  if (mouse && !event.shiftKey) return;
  menuAt("Terminal", terminalItems(view), event.clientX, event.clientY);
}

/** A browser would leave the page for a file that is dropped on it. */
function drop(event: DragEvent): void {
  const view = currentView.peek();
  event.preventDefault();
  if (!view) return;
  const files = filesIn(event.dataTransfer);
  if (files.length > 0) take(view.sessionId, files);
  else void view.clipping.paste(event.dataTransfer?.getData("text/plain") ?? "");
}

const allowDrop = (event: DragEvent): void => event.preventDefault();

export function TerminalPane() {
  const { holder, pool } = usePool();
  const id = activeId.value;
  const name = activeSession.value?.name ?? "";
  useEffect(() => {
    searchOpen.value = false;
    historyOpen.value = undefined;
    pool.current?.show(id);
    takeFocus();
  }, [id]);
  return (
    <section
      class="pane"
      id="terminal-panel"
      role="tabpanel"
      aria-label={`Terminal of ${name}`}
      data-testid="pane"
    >
      {searchOpen.value && <SearchBar />}
      <div ref={holder} class="holder" onContextMenu={contextMenu} onDragOver={allowDrop} onDrop={drop} />
      <Overlay />
    </section>
  );
}
