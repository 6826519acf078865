/**
 * When a workspace is read: one request at a time, however many sessions ask.
 *
 * Git walks the whole working tree, so nothing is read that nobody sees: nothing is asked for
 * while the page is hidden, and fifty agents that end their turns together are read one after
 * the other, none of them more often than each {@link LEAST_MS}.
 */
import type { GitStatusResponse } from "../../api/types.ts";

export interface Answer {
  /** Unix milliseconds. */
  at: number;
  status?: GitStatusResponse;
  /** Why there is no status. */
  problem?: string;
}

/** A pause between two reads, so that a queue of them leaves room for everything else. */
export const GAP_MS = 250;
/** Who walks through the tabs does not stay; a read begins this long after the last step. */
export const SETTLE_MS = 300;
/** The same session is not read again sooner, unless a person asks. */
export const LEAST_MS = 5_000;
/** A session in front is read again this long after the last time. */
export const EVERY_MS = 30_000;

export interface RefresherEnvironment {
  now: () => number;
  /** Calls `act` after `ms`; returns what cancels that. */
  later: (act: () => void, ms: number) => () => void;
  read: (id: string) => Promise<void>;
  answeredAt: (id: string) => number | undefined;
}

export class Refresher {
  readonly #means: RefresherEnvironment;
  /** Each session once, in the order of asking. */
  readonly #queue = new Set<string>();
  #front: string | undefined;
  /** It waits only because it came to the front. */
  #passing: string | undefined;
  #awake = false;
  #busy = false;
  #cancel: () => void = () => {};
  #cancelTick: () => void = () => {};

  constructor(means: RefresherEnvironment) {
    this.#means = means;
  }

  /** How many sessions wait for their turn. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * @param front the session that is seen, if one is.
   * @param awake the page is visible and connected; else whatever waits is given up.
   */
  look(front: string | undefined, awake: boolean): void {
    const before = this.#awake ? this.#front : undefined;
    this.#front = front;
    this.#awake = awake;
    if (!awake) this.#sleep();
    else if (front !== before) this.#arrive(front);
  }

  /** Read a session when its turn comes; what is in front comes first. */
  ask(id: string, wait = 0): void {
    if (!this.#awake) return;
    if (this.#passing === id) this.#passing = undefined;
    this.#queue.add(id);
    if (!this.#busy) this.#plan(wait);
  }

  /** The session in front: more events are worth a read of it than of another. */
  isFront(id: string): boolean {
    return this.#awake && this.#front === id;
  }

  /** A session that is gone is not read. */
  drop(id: string): void {
    this.#queue.delete(id);
  }

  #sleep(): void {
    this.#cancel();
    this.#cancelTick();
    this.#queue.clear();
  }

  #arrive(front: string | undefined): void {
    this.#cancelTick();
    if (this.#passing !== undefined) this.#queue.delete(this.#passing);
    this.#passing = undefined;
    if (front === undefined) return;
    if (this.#wait(front) === 0 && !this.#queue.has(front)) {
      this.ask(front, SETTLE_MS);
      this.#passing = front;
    }
    this.#tick();
  }

  #plan(wait: number): void {
    this.#cancel();
    this.#cancel = this.#means.later(() => void this.#next(), wait);
  }

  /** Milliseconds until a session may be read. */
  #wait(id: string): number {
    const age = this.#means.now() - (this.#means.answeredAt(id) ?? -Infinity);
    return Math.max(0, LEAST_MS - age);
  }

  async #next(): Promise<void> {
    const due = [...this.#queue].filter((id) => this.#wait(id) === 0);
    const id = due.find((each) => each === this.#front) ?? due[0];
    if (id !== undefined) {
      this.#queue.delete(id);
      this.#busy = true;
      await this.#means.read(id).finally(() => (this.#busy = false));
    }
    if (this.#queue.size === 0) return;
    const waits = [...this.#queue].map((each) => this.#wait(each));
    this.#plan(Math.max(GAP_MS, Math.min(...waits)));
  }

  #tick(): void {
    this.#cancelTick = this.#means.later(() => {
      if (this.#front !== undefined) this.ask(this.#front);
      this.#tick();
    }, EVERY_MS);
  }
}
