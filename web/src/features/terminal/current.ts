/** The terminal in front; kept apart so that the page loads without xterm. */
import { signal } from "@preact/signals";
import type { TerminalView } from "./view.ts";

export const currentView = signal<TerminalView | undefined>(undefined);

/** Give the keyboard to the terminal in front, once it is there. */
export function focusActiveTerminal(): void {
  currentView.value?.focus();
}
