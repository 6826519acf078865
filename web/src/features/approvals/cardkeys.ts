/**
 * Keys of a list of cards, the inbox and the fleet alike: J and K go from card to card, and the keys
 * that the focused card shows press its controls.
 *
 * A card is an element with `data-card`; a control with `data-key` in it is pressed by that key.
 */
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

const TYPING = "textarea, input:not([type=checkbox]), select";
const STEPS: Readonly<Partial<Record<string, number>>> = { j: 1, k: -1 };

function walk(list: Element, step: number): void {
  const cards = [...list.querySelectorAll<HTMLElement>("[data-card]")];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = at < 0 ? cards[0] : cards[at + step];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

/** @returns whether a control of the card has this key. */
function pressControl(card: Element, key: string): boolean {
  const control = card.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  control?.click();
  return control !== null;
}

/** @returns whether the key meant something. */
function press(list: Element, target: Element, key: string): boolean {
  const step = STEPS[key];
  if (step !== undefined) {
    walk(list, step);
    return true;
  }
  const card = target.closest("[data-card]");
  return card !== null && list.contains(card) && pressControl(card, key);
}

/** Whether keys are the list's: those of its page, and those of nothing else on the screen. */
function isMeant(list: Element, target: Element): boolean {
  if (list.closest("[inert]") || target.matches(TYPING)) return false;
  return target === document.body || (list.closest("dialog, aside") ?? list).contains(target);
}

// A key that is held down must not answer the card that comes next.
const isPlain = (event: KeyboardEvent): boolean =>
  !event.ctrlKey && !event.altKey && !event.metaKey && !event.repeat && !event.defaultPrevented;

/** The keys of a card that stands alone, where J and K mean something else. */
export function pressOwnKey(event: KeyboardEvent & { currentTarget: Element }): void {
  const { target, currentTarget, key } = event;
  if (!isPlain(event) || !(target instanceof Element) || target.matches(TYPING)) return;
  if (!pressControl(currentTarget, key.toLowerCase())) return;
  event.preventDefault();
  event.stopPropagation();
}

export function useCardKeys(list: RefObject<Element | null>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (!isPlain(event) || !list.current || !(target instanceof Element)) return;
      if (isMeant(list.current, target) && press(list.current, target, key.toLowerCase()))
        event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
