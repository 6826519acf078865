/** What a deed does to the page, which knows nothing of gestures: as a person's own hand would. */

const SHOWN = "[data-testid=terminal]:not([hidden])";
const YES = "[data-testid=approval-approve], [data-leaning=yes]";
/** A hand's way over the picture scrolls so many windows. */
const WINDOWS = 2;

export function scroll(by: number): void {
  const screen = document.querySelector(`${SHOWN} .xterm-screen`);
  const deltaY = by * WINDOWS * innerHeight;
  // Chromium reads this older name first, and gives a made-up event the wrong sign of it.
  const turned = { deltaY, wheelDeltaY: -deltaY, bubbles: true, cancelable: true };
  screen?.dispatchEvent(new WheelEvent("wheel", turned));
}

export function nextSession(): void {
  const key = { code: "ArrowRight", key: "ArrowRight", altKey: true, shiftKey: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }));
}

/** What a second thumb would approve, as it stands now. */
export interface Question {
  title: string;
  /** The item's own name, and the words of the answer. */
  item: string | undefined;
  /** The dialog that was shown with it (protocol-approvals). */
  frame: string | undefined;
  text: string;
}

const cardOf = (): HTMLElement | null => document.querySelector<HTMLElement>("[data-testid=approval]");

async function openInbox(): Promise<void> {
  if (cardOf()) return;
  document.querySelector<HTMLElement>("[data-testid=approvals-bell]")?.click();
  for (let tries = 0; tries < 20 && !cardOf(); tries++) await new Promise((done) => setTimeout(done, 50));
}

/** Behind the number of an option stand its words. */
const wordsOf = (yes: HTMLElement): string => (yes.lastElementChild ?? yes).textContent?.trim() ?? "";

/** Whether all that it is about stands in the window, with nothing to scroll to. */
function isInView(card: HTMLElement): boolean {
  if (card.querySelector("[data-testid=approval-unknown], [data-testid=approval-missing]")) return false;
  const command = card.querySelector(".approval-tool .command");
  if (!command) return true;
  const { top, bottom } = command.getBoundingClientRect();
  return command.scrollHeight <= command.clientHeight && top >= 0 && bottom <= innerHeight;
}

/** @returns why there is nothing that a gesture could approve, or what there is. */
export async function ask(): Promise<Question | string> {
  await openInbox();
  const card = cardOf();
  const yes = card?.querySelector<HTMLButtonElement>(YES);
  if (card && !isInView(card)) return "Not fully visible. Please tap to confirm.";
  if (!card || !yes) return "Nothing to approve.";
  if (yes.dataset["grave"] === "true") return "Too risky for a gesture. Please tap to confirm.";
  const title = card.getAttribute("aria-label") ?? "it";
  const { approval: item, frame } = card.dataset;
  return { title, item, frame, text: wordsOf(yes) };
}

/** @returns why it was not approved; undefined: it was. */
export function approve({ item, frame, text }: Question): string | undefined {
  const card = cardOf();
  const yes = card?.querySelector<HTMLButtonElement>(YES);
  const same = card?.dataset["approval"] === item && card?.dataset["frame"] === frame;
  if (!card || !same || !isInView(card) || !yes || yes.disabled || wordsOf(yes) !== text)
    return "The question changed. Thumbs up again to approve.";
  yes.click();
  return undefined;
}
