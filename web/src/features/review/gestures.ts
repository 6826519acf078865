/** Fingers and pointers on the rows: drag over numbers, hold a line, swipe to the next file. */
import { dragging, selection, type Side } from "./state.ts";
import { spanLines } from "./rows.ts";

/** Milliseconds for which a line is held. */
export const HOLD_MS = 450;
/** Pixels that a held finger may move. */
const STILL = 10;
/** Pixels of a swipe, and how much flatter than steep it is. */
export const SWIPE = 70;
const FLAT = 2;

interface Start {
  side: Side;
  line: number;
}

function rowAt(target: EventTarget | null): Start | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>("[data-line]") : null;
  if (!cell) return undefined;
  return { side: cell.dataset["side"] === "old" ? "old" : "new", line: Number(cell.dataset["line"]) };
}

const isNumber = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(".review-number") !== null;

/** @returns the direction of a swipe; 0 where it was none. */
export function readSwipe(dx: number, dy: number): -1 | 0 | 1 {
  if (Math.abs(dx) < SWIPE || Math.abs(dx) < FLAT * Math.abs(dy)) return 0;
  return dx < 0 ? 1 : -1;
}

export interface RowGestures {
  onPointerDown: (event: PointerEvent) => void;
  onPointerMove: (event: PointerEvent) => void;
  onPointerUp: (event: PointerEvent) => void;
  onPointerCancel: () => void;
}

/** @param swipe called with the direction of a finger that went sideways. */
export function makeRowGestures(swipe: (step: -1 | 1) => void): RowGestures {
  let dragged: Start | undefined;
  let down: { x: number; y: number; touch: boolean } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    dragged = undefined;
    dragging.value = false;
    down = undefined;
  };
  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      const start = rowAt(event.target);
      down = { x: event.clientX, y: event.clientY, touch: event.pointerType === "touch" };
      if (down.touch) {
        if (start)
          timer = setTimeout(
            () => (selection.value = spanLines(start.side, start.line, start.line)),
            HOLD_MS,
          );
      } else if (start && isNumber(event.target)) {
        dragged = start;
        dragging.value = true;
        selection.value = spanLines(start.side, start.line, start.line);
        event.preventDefault();
      }
    },
    onPointerMove: (event) => {
      if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) > STILL) clearTimeout(timer);
      if (!dragged) return;
      const over = rowAt(document.elementFromPoint(event.clientX, event.clientY));
      if (over?.side === dragged.side) selection.value = spanLines(dragged.side, dragged.line, over.line);
    },
    onPointerUp: (event) => {
      const step = down?.touch ? readSwipe(event.clientX - down.x, event.clientY - down.y) : 0;
      end();
      if (step !== 0) swipe(step);
    },
    onPointerCancel: end,
  };
}
