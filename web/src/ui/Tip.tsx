/**
 * Hover texts of `[data-tip]`, also for the keyboard's focus: a `title` shows for the mouse only.
 *
 * One element in the top layer, so that no scrolling row and no dialog cuts it off. What it says
 * stands in the element's own label too; it is hidden from screen readers.
 */
import { useEffect, useRef } from "preact/hooks";

const GAP = 8;
const HOVER_MS = 350;

function tipOf(target: EventTarget | null, within: boolean): HTMLElement | undefined {
  if (!(target instanceof Element)) return undefined;
  const found = target.closest<HTMLElement>("[data-tip]");
  return found ?? (within ? target.querySelector<HTMLElement>("[data-tip]") : null) ?? undefined;
}

function show(tip: HTMLElement, anchor: HTMLElement): void {
  tip.textContent = anchor.dataset["tip"] ?? "";
  if (!tip.matches(":popover-open")) tip.showPopover();
  const box = anchor.getBoundingClientRect();
  // Beside a row of a narrow list, of which it would cover the next ones.
  const beside = anchor.dataset["tipAt"] === "end";
  const left = beside ? box.right + GAP : box.left + box.width / 2 - tip.offsetWidth / 2;
  const below = beside ? box.top : box.bottom + GAP;
  const top = below + tip.offsetHeight > innerHeight - GAP ? box.top - GAP - tip.offsetHeight : below;
  tip.style.left = `${Math.max(GAP, Math.min(left, innerWidth - tip.offsetWidth - GAP))}px`;
  tip.style.top = `${Math.max(GAP, top)}px`;
}

function follow(tip: HTMLElement): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const controller = new AbortController();
  const on = { signal: controller.signal, passive: true };
  let anchored: HTMLElement | undefined;
  // What it says may change under a pointer that rests, a status and its reason above all.
  const changes = new MutationObserver(() => (anchored?.dataset["tip"] ? show(tip, anchored) : hide()));
  const hide = () => {
    clearTimeout(timer);
    changes.disconnect();
    tip.hidePopover();
  };
  const appear = (anchor: HTMLElement) => {
    if (!anchor.isConnected) return;
    anchored = anchor;
    changes.observe(anchor, { attributeFilter: ["data-tip"] });
    show(tip, anchor);
  };
  const plan = (anchor: HTMLElement | undefined, wait: number) => {
    hide();
    if (anchor) timer = setTimeout(() => appear(anchor), wait);
  };
  const over = (event: PointerEvent) =>
    event.pointerType === "mouse" && plan(tipOf(event.target, false), HOVER_MS);
  const focus = (event: FocusEvent) => {
    const visible = event.target instanceof Element && event.target.matches(":focus-visible");
    plan(visible ? tipOf(event.target, !event.target.matches("[data-card]")) : undefined, 0);
  };
  document.addEventListener("pointerover", over, on);
  document.addEventListener("focusin", focus, on);
  for (const name of ["focusout", "pointerdown", "scroll", "keydown"])
    document.addEventListener(name, hide, { ...on, capture: true });
  return () => {
    controller.abort();
    clearTimeout(timer);
    changes.disconnect();
  };
}

export function Tip() {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => (ref.current ? follow(ref.current) : undefined), []);
  return <div ref={ref} popover="manual" class="tip" aria-hidden="true" data-testid="tip" />;
}
