/** A finger that rests: the touch screen's other click. */
import { useEffect, useRef } from "preact/hooks";

const HELD_MS = 500;
/** A finger that moves farther scrolls (CSS pixels). */
const MOVED_MAX = 10;

/**
 * @param act what a rest of half a second does; the tap that ends it does nothing then.
 * @returns handlers for the element that is pressed.
 */
export function useLongPress(act: () => void) {
  const press = useRef({ timer: 0, x: 0, y: 0, acted: false }).current;
  const end = () => {
    window.clearTimeout(press.timer);
    press.timer = 0;
  };
  useEffect(() => end, []);
  return {
    onPointerDown: (event: PointerEvent) => {
      end();
      press.acted = false;
      if (event.pointerType === "mouse") return;
      Object.assign(press, { x: event.clientX, y: event.clientY });
      press.timer = window.setTimeout(() => {
        end();
        press.acted = true;
        act();
      }, HELD_MS);
    },
    onPointerMove: (event: PointerEvent) => {
      if (Math.hypot(event.clientX - press.x, event.clientY - press.y) > MOVED_MAX) end();
    },
    onPointerUp: end,
    onPointerCancel: end,
    // The browser's own menu for a long press would lie over what it begins.
    onContextMenu: (event: Event) => {
      if (press.timer !== 0 || press.acted) event.preventDefault();
    },
    onClickCapture: (event: Event) => {
      if (!press.acted) return;
      press.acted = false;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}
