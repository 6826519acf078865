/** What a hand means over time: nothing happens by a single picture. */
import { type Hand, type Shape, shapeOf } from "./shapes.ts";

export type GestureAction =
  /** @property by the way of the hand, of the picture's height; down is more than 0. */
  | { kind: "scroll"; by: number }
  | { kind: "next" }
  /** The first thumb: show what would be approved. */
  | { kind: "ask" }
  /** The second thumb, after the first was let go. */
  | { kind: "approve" }
  /** The second thumb never came, or something else did. */
  | { kind: "forget" };

/** A shape counts once it was held so long (ms). */
export const HELD_MS: Readonly<Record<Shape, number>> = { palm: 250, pinch: 250, thumb: 700, other: 300 };
/** The second thumb comes within so long of the first. */
export const SURE_MS = 6_000;
/** Less than this is a hand that trembles. */
const STILL = 0.004;
/** Without a picture for so long the hand is another one. */
const LOST_MS = 1_000;

export class Reader {
  #shape: Shape = "other";
  #since = 0;
  #last = 0;
  #done = true;
  #height = 0;
  /** Since when an approval waits, and whether the thumb was down meanwhile. */
  #asked: { since: number; released: boolean } | undefined;

  /**
   * @param hand undefined: there is none.
   * @param now milliseconds, never less than before.
   */
  read(hand: Hand | undefined, now: number): GestureAction[] {
    const shape = hand === undefined ? "other" : shapeOf(hand);
    const height = hand?.[0]?.y ?? 0;
    if (shape !== this.#shape || now - this.#last > LOST_MS) this.#change(shape, height, now);
    this.#last = now;
    const held = now - this.#since >= HELD_MS[shape];
    return [...this.#wait(shape, held, now), ...(held ? this.#act(shape, height, now) : [])];
  }

  #change(shape: Shape, height: number, now: number): void {
    this.#shape = shape;
    this.#since = now;
    this.#height = height;
    this.#done = false;
  }

  #wait(shape: Shape, held: boolean, now: number): GestureAction[] {
    if (!this.#asked) return [];
    if (held && shape === "other") this.#asked.released = true;
    const elsewhere = held && (shape === "palm" || shape === "pinch");
    if (now - this.#asked.since <= SURE_MS && !elsewhere) return [];
    this.#asked = undefined;
    // A thumb that is still up has been used.
    if (shape === "thumb") this.#done = true;
    return [{ kind: "forget" }];
  }

  #act(shape: Shape, height: number, now: number): GestureAction[] {
    if (shape === "palm") return this.#scroll(height);
    if (shape === "other" || this.#done) return [];
    this.#done = true;
    if (shape === "pinch") return [{ kind: "next" }];
    if (!this.#asked) {
      this.#asked = { since: now, released: false };
      return [{ kind: "ask" }];
    }
    if (!this.#asked.released) return [];
    this.#asked = undefined;
    return [{ kind: "approve" }];
  }

  #scroll(height: number): GestureAction[] {
    const by = height - this.#height;
    if (Math.abs(by) < STILL) return [];
    this.#height = height;
    return [{ kind: "scroll", by }];
  }
}
