/** When a finger that goes aside means the next session. */

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
