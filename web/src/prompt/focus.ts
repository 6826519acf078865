/** The keyboard's way to the prompt box and back. */
import { focusActiveTerminal } from "../terminal/focus.ts";

const field = (): HTMLTextAreaElement | null => document.querySelector<HTMLTextAreaElement>("#prompt-field");

export function togglePromptFocus(): void {
  const box = field();
  if (box && document.activeElement !== box) box.focus();
  else focusActiveTerminal();
}

export function focusPrompt(): void {
  field()?.focus();
}
