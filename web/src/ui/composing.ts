/** Keys that an input method takes never reach the page's own handlers. */

/**
 * Return whether an input method takes the key.
 *
 * Safari ends a conversion before it tells of the key that ended it: that `keydown` comes after
 * `compositionend` and says `isComposing: false`. Its code is 229 there, as for every such key.
 */
export const isComposing = (event: { isComposing: boolean; keyCode?: number }): boolean =>
  event.isComposing || event.keyCode === 229;

/** A terminal's own field follows its compositions by these keys. */
const isField = (target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement =>
  (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) &&
  !target.closest(".terminal-host");

function hold(event: KeyboardEvent): void {
  if (!isComposing(event) || !isField(event.target)) return;
  event.stopImmediatePropagation();
  // Nor does the browser itself send the form, or close the dialog, that the field is in.
  const ends = event.key === "Escape" || (event.key === "Enter" && event.target instanceof HTMLInputElement);
  if (ends) event.preventDefault();
}

/** Call it before anything else listens for keys. */
export function holdComposedKeys(): void {
  addEventListener("keydown", hold, { capture: true });
}
