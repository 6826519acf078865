/** A finger on a terminal: up and down scrolls, with the momentum people expect; aside is a swipe. */
import type { Terminal } from "@xterm/xterm";

/** Movement below this many pixels is a tap. */
const SLOP = 8;
/** Share of its speed that a thrown scroll keeps each millisecond. */
const DECAY = 0.996;
/** Pixels a millisecond below which a throw ends. */
const SLOWEST = 0.03;

/** How much further aside than up or down; a slanted scroll is a scroll. */
const ASIDE = 1.5;
/** Pixels that are a swipe however slow. */
const FAR = 110;
/** Pixels that are one where the finger was quick. */
const NEAR = 48;
/** Pixels a millisecond. */
const QUICK = 0.4;

export const isHorizontal = ({ x, y }: { x: number; y: number }): boolean =>
  Math.abs(x) > ASIDE * Math.abs(y);

/** @returns 1 for the next, which comes in from the right, -1 for the one before, 0 for none. */
export function stepOf(pixels: number, elapsed: number): -1 | 0 | 1 {
  const far = Math.abs(pixels);
  const quick = far / Math.max(1, elapsed) > QUICK;
  if (far < (quick ? NEAR : FAR)) return 0;
  return pixels < 0 ? 1 : -1;
}

/** What is dragged follows at half the finger's pace and is never lost from sight. */
export const getDragOffset = (pixels: number): number => Math.max(-80, Math.min(80, pixels / 2));

/** Whole lines out of pixels, the rest kept for the next move. */
export class LineCounter {
  private rest = 0;

  lines(pixels: number, lineHeight: number): number {
    this.rest += pixels;
    const whole = Math.trunc(this.rest / lineHeight);
    this.rest -= whole * lineHeight;
    return whole === 0 ? 0 : whole;
  }

  reset(): void {
    this.rest = 0;
  }
}

export const slowDown = (speed: number, elapsed: number): number => speed * DECAY ** elapsed;

export interface ScrollTarget {
  lineHeight(): number;
  /** @param lines positive towards the newest. */
  scroll(lines: number, at: { x: number; y: number }): void;
  /** The finger is so many pixels aside; 0: it is gone. */
  drag?(pixels: number): void;
  /** @param step 1 to the next session, -1 to the one before; absent, aside is nothing special. */
  swipe?(step: 1 | -1): void;
}

export class TouchScroll {
  private readonly target: ScrollTarget;
  private readonly counter = new LineCounter();
  private last: { y: number; time: number } | undefined;
  private from = { x: 0, y: 0, time: 0 };
  private moved = false;
  private aside = false;
  private speed = 0;
  private frame = 0;

  constructor(target: ScrollTarget) {
    this.target = target;
  }

  attach(element: HTMLElement): void {
    element.addEventListener("touchstart", (event) => this.start(event), { passive: true, capture: true });
    element.addEventListener("touchmove", (event) => this.move(event), { passive: false, capture: true });
    element.addEventListener("touchend", (event) => this.end(event), { capture: true });
    element.addEventListener("touchcancel", () => this.stop(), { capture: true });
  }

  private start(event: TouchEvent): void {
    this.stop();
    const touch = event.touches[0];
    if (event.touches.length !== 1 || !touch) return;
    this.from = { x: touch.clientX, y: touch.clientY, time: event.timeStamp };
    this.last = { y: touch.clientY, time: event.timeStamp };
    this.moved = false;
    this.speed = 0;
    this.counter.reset();
  }

  private move(event: TouchEvent): void {
    const touch = event.touches[0];
    if (!this.last || event.touches.length !== 1 || !touch) return;
    const away = { x: touch.clientX - this.from.x, y: touch.clientY - this.from.y };
    if (!this.moved && Math.hypot(away.x, away.y) < SLOP) return;
    if (!this.moved) this.aside = this.target.swipe !== undefined && isHorizontal(away);
    this.moved = true;
    event.preventDefault();
    event.stopPropagation();
    if (this.aside) return this.target.drag?.(away.x);
    const pixels = this.last.y - touch.clientY;
    this.speed = pixels / Math.max(1, event.timeStamp - this.last.time);
    this.last = { y: touch.clientY, time: event.timeStamp };
    this.by(pixels, { x: touch.clientX, y: touch.clientY });
  }

  private end(event: TouchEvent): void {
    const { last, moved } = this;
    this.last = undefined;
    if (!moved) return;
    // Without this the browser makes a click of it, which would open the keyboard.
    event.preventDefault();
    if (this.aside) return this.swiped(event);
    const held = last ? event.timeStamp - last.time > 80 : true;
    if (!held && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      this.throwOn(event.changedTouches[0]);
  }

  private swiped(event: TouchEvent): void {
    const touch = event.changedTouches[0];
    this.aside = false;
    this.target.drag?.(0);
    const step = touch ? stepOf(touch.clientX - this.from.x, event.timeStamp - this.from.time) : 0;
    if (step !== 0) this.target.swipe?.(step);
  }

  private throwOn(touch: Touch | undefined): void {
    const at = { x: touch?.clientX ?? 0, y: touch?.clientY ?? 0 };
    let before = performance.now();
    const step = (now: number): void => {
      const elapsed = now - before;
      before = now;
      this.by(this.speed * elapsed, at);
      this.speed = slowDown(this.speed, elapsed);
      if (Math.abs(this.speed) > SLOWEST) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  private by(pixels: number, at: { x: number; y: number }): void {
    const lines = this.counter.lines(pixels, this.target.lineHeight());
    if (lines !== 0) this.target.scroll(lines, at);
  }

  private stop(): void {
    cancelAnimationFrame(this.frame);
    if (this.aside) this.target.drag?.(0);
    this.aside = false;
    this.last = undefined;
  }
}

/** @param swipe aside, the finger goes to another session. */
export function scrollByTouch(terminal: Terminal, element: HTMLElement, swipe: (step: 1 | -1) => void): void {
  new TouchScroll({
    lineHeight: () => (terminal.element?.clientHeight ?? 0) / terminal.rows || 16,
    scroll: (lines, at) => scrollTerminal(terminal, lines, at),
    drag: (pixels) => {
      const still = pixels === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches;
      element.style.translate = still ? "" : `${getDragOffset(pixels)}px`;
    },
    swipe,
  }).attach(element);
}

function scrollTerminal(terminal: Terminal, lines: number, at: { x: number; y: number }): void {
  const plain = terminal.buffer.active.type === "normal" && terminal.modes.mouseTrackingMode === "none";
  if (plain) return terminal.scrollLines(lines);
  // xterm turns wheel steps into mouse reports or cursor keys, whichever the program wants.
  const target = terminal.element?.querySelector(".xterm-screen");
  const event = {
    deltaY: Math.sign(lines),
    deltaMode: 1,
    clientX: at.x,
    clientY: at.y,
    bubbles: true,
    cancelable: true,
  };
  for (let n = 0; n < Math.abs(lines); n++) target?.dispatchEvent(new WheelEvent("wheel", event));
}
