/**
 * Typed input on its way to the service: kept until it is acknowledged, so that it can be sent
 * again after a lost connection; the service drops what it has seen by its number (protocol-exactly-once).
 */
import { type Ack, INPUT_CHARS, pieces } from "./frames.ts";

export interface Pending {
  seq: number;
  data: string;
  /** How often it was put on a connection; 0 = not yet. */
  tries: number;
  /** When it was last sent, in the clock's milliseconds. */
  sentAt: number;
}

/** Bound of what waits: beyond it new input is refused, never older input dropped. */
export const CHARS_MAX = 1024 * 1024;
/**
 * Unanswered inputs on a connection. Beyond them keys gather in one input: the service queues 64
 * for a session and its five viewers (protocol-websocket), and somebody typing fast must not be refused.
 */
export const WINDOW = 8;

export class Outbox {
  private queue: Pending[] = [];
  private nextSeq: number;

  /** @param firstSeq above every number that this client id has used before. */
  constructor(firstSeq: number) {
    this.nextSeq = firstSeq;
  }

  /** Number of the newest input. */
  get newest(): number {
    return this.nextSeq - 1;
  }

  /** Number of the newest input of which none before is unanswered. */
  get answered(): number {
    return (this.queue[0]?.seq ?? this.nextSeq) - 1;
  }

  get size(): number {
    return this.queue.length;
  }

  get chars(): number {
    return this.queue.reduce((sum, item) => sum + item.data.length, 0);
  }

  /** How long an input is that was not acknowledged; 0 for one that was. */
  charsOf(seq: number): number {
    return this.queue.find((item) => item.seq === seq)?.data.length ?? 0;
  }

  /** @returns false when the bound is reached; then nothing was taken. */
  add(data: string): boolean {
    if (this.chars + data.length > CHARS_MAX) return false;
    for (const part of pieces(data)) this.append(part);
    return true;
  }

  private append(data: string): void {
    const last = this.queue.at(-1);
    if (last && last.tries === 0 && last.data.length + data.length <= INPUT_CHARS) {
      last.data += data;
      return;
    }
    this.queue.push({ seq: this.nextSeq++, data, tries: 0, sentAt: 0 });
  }

  /** What has never been sent, as far as the window lets it go, marked as sent at `now`. */
  takeNew(now: number): Pending[] {
    const inWindow = this.queue.slice(0, WINDOW);
    return this.mark(
      inWindow.filter((item) => item.tries === 0),
      now,
    );
  }

  /** The oldest unacknowledged in their order, for a connection that just opened. */
  takeAgain(now: number): Pending[] {
    return this.mark(this.queue.slice(0, WINDOW), now);
  }

  private mark(items: Pending[], now: number): Pending[] {
    for (const item of items) {
      item.tries += 1;
      item.sentAt = now;
    }
    return items;
  }

  /**
   * Take the answer in; afterwards there may be more to send, or all of it under new numbers.
   * @returns the input that it answers; undefined if there is none.
   */
  acknowledge(ack: Ack): Pending | undefined {
    const item = this.queue.find((each) => each.seq === ack.seq);
    if (!item) return undefined;
    if (ack.dup && item.tries === 1 && ack.last !== undefined && ack.last >= item.seq)
      this.renumber(ack.last + 1);
    else this.queue = this.queue.filter((each) => each !== item);
    return item;
  }

  /** The service knows higher numbers than ours (this device's clock went back). */
  private renumber(first: number): void {
    this.nextSeq = Math.max(this.nextSeq, first);
    for (const item of this.queue) {
      item.seq = this.nextSeq++;
      item.tries = 0;
    }
  }

  /** When the longest unanswered input was sent; undefined when none is under way. */
  oldestSent(): number | undefined {
    return this.queue.find((item) => item.tries > 0)?.sentAt;
  }

  clear(): void {
    this.queue = [];
  }
}
