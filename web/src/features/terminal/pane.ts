/** What a terminal's place on the page does with the focus, the right button and what is dropped on it. */
import { attachFiles } from "../attach/attach.ts";
import { filesIn } from "../attach/tray.ts";
import { coarse } from "../touch/state.ts";
import { menuAt } from "../../ui/menu.ts";
import { currentView } from "./current.ts";
import { terminalItems } from "./terminalmenu.ts";
import type { TerminalView } from "./view.ts";

const modalOpen = (): boolean => document.querySelector("dialog[open]") !== null;

const KEPT = "[role=tablist], .cell-head, :is(input, textarea, select):not(.terminal-host *)";

/** A card that was brought to the front for its keys. */
const CARD = ".approval";

/**
 * Taking the focus on a phone would open its keyboard, from a tab it would break walking, and from
 * a field or a card what is typed next would go to the program.
 */
function mayFocus(): boolean {
  const focused = document.activeElement;
  return !coarse.value && !modalOpen() && !focused?.closest(KEPT) && !focused?.matches(CARD);
}

export function takeFocus(): void {
  if (mayFocus()) currentView.peek()?.focus();
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
