/** Give the keyboard to the terminal in front, once it is there. */
import { currentView } from "./current.ts";

export function focusActiveTerminal(): void {
  currentView.value?.focus();
}
