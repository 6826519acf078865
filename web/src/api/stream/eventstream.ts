/**
 * The service's event stream, kept alive.
 *
 * `fetch` instead of `EventSource`: it shows the status (401, 503) and lets a new connection
 * carry `Last-Event-ID`, so that a short loss is replayed instead of read anew (protocol-sse).
 */
import { backoff } from "../../lib/backoff.ts";
import { type Message, StreamParser } from "./parser.ts";

/** Silence of about three heartbeats is a dead stream (protocol-sse). */
export const SILENCE_MS = 45_000;
const RETRY = { first: 500, most: 15_000 };

export type StreamState = "connecting" | "open" | "retrying" | "offline" | "signed-out" | "closed";

export interface Opened {
  status: number;
  /** The body's text, piece by piece; ends when the connection does. */
  text: AsyncIterable<string>;
}

export interface StreamEnvironment {
  open(lastId: string | undefined, signal: AbortSignal): Promise<Opened>;
  online(): boolean;
  random(): number;
  onMessage(message: Message): void;
  onState(state: StreamState): void;
  /** The service refuses: 401 ends the trying, 403 may pass (a password that must be changed). */
  onRefused(status: 401 | 403): void;
  /** The stream was silent for too long: other connections over this network are in doubt too. */
  onSilence(): void;
}

export class EventStream {
  private readonly env: StreamEnvironment;
  private lastId: string | undefined;
  private failures = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setTimeout> | undefined;
  private current: AbortController | undefined;
  private ended = false;

  constructor(env: StreamEnvironment) {
    this.env = env;
  }

  /** Connect now, whatever is under way: at start, on wake, when the network is back. */
  connect(): void {
    if (this.ended) return;
    this.drop();
    const controller = new AbortController();
    this.current = controller;
    this.env.onState("connecting");
    this.listen();
    void this.read(controller);
  }

  /** Forget the place in the stream, so that the next connection starts with `init`. */
  forget(): void {
    this.lastId = undefined;
  }

  /** Nobody is signed in: silent until the next `connect`, which starts anew. */
  suspend(): void {
    this.drop();
    this.lastId = undefined;
    this.env.onState("signed-out");
  }

  close(): void {
    this.ended = true;
    this.drop();
    this.env.onState("closed");
  }

  private drop(): void {
    clearTimeout(this.retry);
    clearTimeout(this.watch);
    this.current?.abort();
    this.current = undefined;
  }

  /** Any text counts as a sign of life; a silent stream on a device that is online is dead. */
  private listen(): void {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => {
      if (!this.env.online()) return this.listen();
      this.connect();
      this.env.onSilence();
    }, SILENCE_MS);
  }

  private async read(controller: AbortController): Promise<void> {
    try {
      const { status, text } = await this.env.open(this.lastId, controller.signal);
      if (controller !== this.current) return;
      if (status === 401) this.suspend();
      if (status === 401 || status === 403) this.env.onRefused(status);
      if (status === 200) await this.consume(text, controller);
    } catch {
      // A lost connection, whatever its name: the retry below is the answer to each.
    }
    if (controller === this.current) this.again();
  }

  private async consume(text: AsyncIterable<string>, controller: AbortController): Promise<void> {
    const parser = new StreamParser();
    this.env.onState("open");
    for await (const piece of text) {
      if (controller !== this.current) return;
      this.failures = 0;
      this.listen();
      for (const message of parser.push(piece)) this.deliver(message);
    }
  }

  private deliver(message: Message): void {
    if (message.id !== undefined) this.lastId = message.id;
    this.env.onMessage(message);
  }

  private again(): void {
    this.drop();
    this.env.onState(this.env.online() ? "retrying" : "offline");
    const wait = backoff(RETRY, this.failures, this.env.random());
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), wait);
  }
}
