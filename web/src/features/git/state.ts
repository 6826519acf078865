/** What is known of each session's workspace, and the one queue that reads it. */
import type { GitStatusResponse } from "../../api/types.ts";
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { Chosen } from "./texts.ts";

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

interface RefresherEnvironment {
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

interface StatusOptions {
  /** Seconds that one git command may run; the service's own bound where absent. */
  timeout?: number;
  signal?: AbortSignal;
}

export const answers = signal<ReadonlyMap<string, Answer>>(new Map());

/** The file whose diff is shown. */
export const chosen = signal<Chosen | undefined>(undefined);

/** Sessions whose status is being read because a person asked. */
export const reading = signal<ReadonlySet<string>>(new Set());

function keepAnswer(id: string, answer: Answer): void {
  answers.value = new Map(answers.peek()).set(id, answer);
}

export function forget(id: string): void {
  if (!answers.peek().has(id)) return;
  const left = new Map(answers.peek());
  left.delete(id);
  answers.value = left;
}

/** A session that is gone is no trouble worth a word; the sign-in page is the answer to a 401. */
function failed(id: string, error: unknown): void {
  if (error instanceof ApiError && (error.status === 404 || error.status === 401)) return forget(id);
  keepAnswer(id, { at: Date.now(), problem: getErrorText(error) });
}

async function read(id: string, options: StatusOptions): Promise<void> {
  try {
    const { timeout, signal } = options;
    const query = { fresh: true, ...(timeout !== undefined && { timeout: [String(timeout)] }) };
    const status = await api.get("/api/sessions/{id}/git-status", { path: { id }, query, signal });
    keepAnswer(id, { at: Date.now(), status });
  } catch (error) {
    failed(id, error);
  }
}

/** At once, whatever is queued. */
export async function readNow(id: string, options: StatusOptions = {}): Promise<void> {
  reading.value = new Set(reading.peek()).add(id);
  await read(id, options);
  const left = new Set(reading.peek());
  left.delete(id);
  reading.value = left;
}

export const refresher = new Refresher({
  now: () => Date.now(),
  later: (act, ms) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  read: (id) => read(id, {}),
  answeredAt: (id) => answers.peek().get(id)?.at,
});
