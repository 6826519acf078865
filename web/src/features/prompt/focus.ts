/** The keyboard's way to the prompt box and back. */
import { signal } from "@preact/signals";
import { focusActiveTerminal } from "../terminal/current.ts";

const field = (): HTMLTextAreaElement | null => document.querySelector<HTMLTextAreaElement>("#prompt-field");

export function togglePromptFocus(): void {
  const box = field();
  if (box && document.activeElement !== box) box.focus();
  else focusActiveTerminal();
}

export function focusPrompt(): void {
  field()?.focus();
}

/** Something is being written in the box; a phone shows its own keyboard for that. */
export const writing = signal(false);

/**
 * Look whether the box has the focus, once the present event is over.
 *
 * A tap moves the focus before its click. What appears or goes in between moves the target away
 * from under the finger, and the click is lost.
 */
export function followWriting(): void {
  setTimeout(() => {
    writing.value = document.activeElement?.matches(".prompt :is(textarea, input)") ?? false;
  });
}
