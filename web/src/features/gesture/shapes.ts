/** What a hand does, told by its 21 points (x and y from 0 to 1, y downwards). */

export interface Point {
  x: number;
  y: number;
}

export type Hand = readonly Point[];
export type Shape = "palm" | "pinch" | "thumb" | "other";

const POINTS = 21;
const WRIST = 0;
const THUMB = { base: 2, tip: 4 };
/** The base, the middle joint and the tip of each finger. */
const FINGERS = [
  [5, 6, 8],
  [9, 10, 12],
  [13, 14, 16],
  [17, 18, 20],
] as const;

const distance = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);

export function shapeOf(hand: Hand): Shape {
  if (hand.length !== POINTS) return "other";
  const at = (index: number): Point => hand[index] as Point;
  /** From the wrist to the middle of the hand: what near and far are measured by. */
  const size = distance(at(WRIST), at(9));
  if (!(size > 0.02)) return "other";
  const reach = ([, middle, tip]: (typeof FINGERS)[number]) =>
    distance(at(tip), at(WRIST)) / distance(at(middle), at(WRIST));
  const straight = FINGERS.filter((finger) => reach(finger) > 1.15).length;
  const folded = FINGERS.filter((finger) => reach(finger) < 1).length;
  const thumb = at(THUMB.tip);
  if (straight >= 2 && distance(thumb, at(8)) < 0.25 * size) return "pinch";
  if (straight === 4 && distance(thumb, at(5)) > 0.5 * size) return "palm";
  const up = at(THUMB.base).y - thumb.y;
  const above = FINGERS.every(([, middle]) => at(middle).y - thumb.y > 0.25 * size);
  const upright = up > 0.4 * size && Math.abs(thumb.x - at(THUMB.base).x) < up;
  return folded === 4 && above && upright ? "thumb" : "other";
}
