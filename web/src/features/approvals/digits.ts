/** The numbers of the options are keys of the card that has the focus. */

const TYPING = "textarea, input:not([type=checkbox]), select";

/** A digit presses the option of that number, as it would in the terminal. */
export function pressDigit(event: KeyboardEvent): void {
  const card = event.currentTarget as HTMLElement;
  const plain = !event.ctrlKey && !event.altKey && !event.metaKey;
  if (!plain || !/^[1-9]$/.test(event.key) || (event.target as Element).matches(TYPING)) return;
  const way = card.querySelector<HTMLElement>(
    `[data-testid="approval-option-${event.key}"], [data-digit="${event.key}"]`,
  );
  if (!way) return;
  event.preventDefault();
  way.click();
}
