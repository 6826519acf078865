/**
 * One terminal view's connection to its session (protocol-websocket): resumes after a loss without a gap,
 * delivers input exactly once, and never trusts a connection that stopped answering.
 */
import { terminalPath } from "../../../api/paths.ts";
import { backoff } from "../../../lib/backoff.ts";
import { type Ending, endingOf } from "./closecodes.ts";
import {
  type Ack,
  type ClientFrame,
  type Far,
  type Hello,
  parseFrame,
  type ServerFrame,
  type Snapshot,
} from "./frames.ts";
import { Outbox } from "./outbox.ts";

const RETRY = { first: 300, most: 8_000 };
/** Input unanswered for this long (ms) means a half-open connection. */
export const PATIENCE_MS = 5_000;
const PATIENCE_MOST_MS = 60_000;
/** `got` leaves at the latest after this many milliseconds or drawn bytes. */
const GOT_MS = 100;
const GOT_BYTES = 256 * 1024;
/** So many of the last round trips count; a single slow one makes no slow connection. */
const ROUND_TRIPS = 4;

/** `resting`: nobody wants the stream; it begins afresh with the next `connect`. */
export type LinkState =
  "connecting" | "open" | "retrying" | "resting" | Exclude<Ending, "retry" | "retry-clean">;

export interface Socket {
  /** @returns false where it is not open (any more): nothing was sent. */
  send(text: string): boolean;
  close(): void;
}

export interface SocketHandlers {
  onText(text: string): void;
  onBytes(bytes: Uint8Array): void;
  onClose(code: number): void;
}

export interface LinkEnvironment {
  connect(path: string, handlers: SocketHandlers): Socket;
  now(): number;
  random(): number;
}

export interface LinkListener {
  state(state: LinkState): void;
  hello(hello: Hello): void;
  /** Reset, then draw; call `drawn` once that is done. */
  snapshot(snapshot: Snapshot, drawn: () => void): void;
  output(bytes: Uint8Array, drawn: () => void): void;
  size(cols: number, rows: number): void;
  exit(status: number | undefined): void;
  /** @param code an error code, or `FULL` when the outbox is at its bound. */
  inputLost(code: string): void;
  /** An input is in the program. */
  answered(): void;
  /** So many characters are typed once the session's host is back. */
  inputHeld(chars: number): void;
  /** The way from the service to the session's host went or came back. */
  far(up: boolean, nextAt: number | undefined): void;
}

export class TerminalLink {
  private readonly env: LinkEnvironment;
  private readonly listener: LinkListener;
  private readonly sessionId: string;
  private readonly cid: string;
  readonly outbox: Outbox;

  /** Milliseconds from an input to its answer, smoothed from 0 on. */
  roundTrip = 0;

  private socket: Socket | undefined;
  private current: LinkState = "connecting";
  private epoch: string | null = null;
  /** The screen stands for the stream up to `received`: a resume makes sense. */
  private painted = false;
  private received = 0;
  private drawn = 0;
  private told = 0;
  private failures = 0;
  /** Since when the session's host is reached, in the clock's milliseconds; undefined: it is not. */
  private farAt: number | undefined = 0;
  private patience = PATIENCE_MS;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private gotTimer: ReturnType<typeof setTimeout> | undefined;
  private ackTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(env: LinkEnvironment, listener: LinkListener, sessionId: string, cid: string) {
    this.env = env;
    this.listener = listener;
    this.sessionId = sessionId;
    this.cid = cid;
    // Milliseconds grow faster than anybody types, so a reloaded page starts above its old numbers.
    this.outbox = new Outbox(env.now());
  }

  /** Numbers of the newest input, and of the newest that is in the program. */
  get inputs(): { sent: number; answered: number } {
    return { sent: this.outbox.newest, answered: this.outbox.answered };
  }

  get state(): LinkState {
    return this.current;
  }

  /** Connect now, replacing whatever connection there is; resumes where the screen stands. */
  connect(): void {
    this.drop();
    this.enter("connecting");
    const resume =
      this.painted && this.epoch !== null ? { epoch: this.epoch, since: this.received } : undefined;
    const path = terminalPath(this.sessionId, this.cid, resume);
    const alive = (): boolean => this.socket === socket;
    const socket: Socket = this.env.connect(path, {
      onText: (text) => alive() && this.text(text),
      onBytes: (bytes) => alive() && this.bytes(bytes),
      onClose: (code) => alive() && this.closed(code),
    });
    this.socket = socket;
  }

  /** The network changed or the device slept: a new connection is cheaper than doubt. */
  refresh(): void {
    if (this.current === "open" || this.current === "connecting" || this.current === "retrying")
      this.connect();
  }

  /**
   * The service is back, or somebody signed in anew: do not wait for the next try. Whose right has
   * ended is told so by 4003, and has another one after a new password.
   */
  hurry(): void {
    if (this.current === "retrying" || this.current === "forbidden") this.connect();
  }

  close(): void {
    this.drop();
    clearTimeout(this.gotTimer);
  }

  /** Give the connection back; what is shown meanwhile comes from elsewhere. */
  rest(): void {
    this.close();
    this.gotTimer = undefined;
    this.painted = false;
    this.enter("resting");
  }

  /** Type into the session; while the connection is away the input waits. */
  input(data: string): void {
    if (data === "") return;
    if (!this.outbox.add(data)) {
      this.listener.inputLost("FULL");
      return;
    }
    if (this.current === "open") this.flush();
  }

  /** @returns false while there is no connection; the caller claims again after `hello`. */
  send(frame: ClientFrame): boolean {
    if (this.current !== "open" || !this.socket) return false;
    return this.socket.send(JSON.stringify(frame));
  }

  private enter(state: LinkState): void {
    this.current = state;
    this.listener.state(state);
  }

  private drop(): void {
    clearTimeout(this.retry);
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    const old = this.socket;
    this.socket = undefined;
    old?.close();
  }

  private text(text: string): void {
    const frame = parseFrame(text);
    if (frame) this.frame(frame);
  }

  private frame(frame: ServerFrame): void {
    if (frame.t === "hello") this.hello(frame);
    else if (frame.t === "snapshot") this.snapshot(frame);
    else if (frame.t === "size") this.listener.size(frame.c, frame.r);
    else if (frame.t === "ack") this.acknowledged(frame);
    else if (frame.t === "link") this.far(frame);
    else this.listener.exit(frame.status);
  }

  /** A host that sleeps answers nobody: that is no reason to doubt the connection to the service. */
  private far({ up, nextAt }: Far): void {
    this.farAt = up ? this.env.now() : undefined;
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    this.listener.far(up, nextAt);
    this.expectAck();
  }

  private hello(hello: Hello): void {
    this.farAt = 0;
    this.epoch = hello.epoch ?? null;
    this.received = hello.offset;
    if (!hello.resumed) this.painted = false;
    this.failures = 0;
    this.enter("open");
    this.listener.hello(hello);
    this.sendAgain();
  }

  private snapshot(snapshot: Snapshot): void {
    this.received = snapshot.offset;
    this.painted = true;
    this.listener.snapshot(snapshot, () => this.drew(snapshot.offset));
  }

  private bytes(bytes: Uint8Array): void {
    this.received += bytes.length;
    const upTo = this.received;
    this.listener.output(bytes, () => this.drew(upTo));
  }

  private drew(upTo: number): void {
    this.drawn = upTo;
    if (Math.abs(this.drawn - this.told) >= GOT_BYTES) this.tellGot();
    else this.gotTimer ??= setTimeout(() => this.tellGot(), GOT_MS);
  }

  private tellGot(): void {
    clearTimeout(this.gotTimer);
    this.gotTimer = undefined;
    if (this.send({ t: "got", offset: this.drawn })) this.told = this.drawn;
  }

  private flush(): void {
    for (const item of this.outbox.takeNew(this.env.now()))
      this.send({ t: "i", d: item.data, seq: item.seq });
    this.expectAck();
  }

  private sendAgain(): void {
    for (const item of this.outbox.takeAgain(this.env.now()))
      this.send({ t: "i", d: item.data, seq: item.seq });
    this.expectAck();
  }

  private acknowledged(ack: Ack): void {
    this.patience = PATIENCE_MS;
    if (ack.err !== undefined) this.listener.inputLost(ack.err);
    if (ack.buffered) this.listener.inputHeld(this.outbox.charsOf(ack.seq));
    const item = this.outbox.acknowledge(ack);
    if (item?.tries === 1 && !ack.buffered) {
      this.roundTrip += (this.env.now() - item.sentAt - this.roundTrip) / ROUND_TRIPS;
      this.listener.answered();
    }
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    this.flush();
  }

  private expectAck(): void {
    const sent = this.outbox.oldestSent();
    if (sent === undefined || this.ackTimer !== undefined || this.farAt === undefined) return;
    const wait = Math.max(0, Math.max(sent, this.farAt) + this.patience - this.env.now());
    this.ackTimer = setTimeout(() => this.unanswered(), wait);
  }

  /** Patience grows, so that a service that only is slow is not asked ever again. */
  private unanswered(): void {
    this.patience = Math.min(PATIENCE_MOST_MS, this.patience * 2);
    this.connect();
  }

  private closed(code: number): void {
    this.drop();
    const ending = endingOf(code);
    if (ending === "retry-clean" && this.outbox.size > 0) {
      this.outbox.clear();
      this.listener.inputLost("OPERATION_FAILED");
    }
    if (ending !== "retry" && ending !== "retry-clean") return this.enter(ending);
    this.enter("retrying");
    const wait = backoff(RETRY, this.failures, this.env.random());
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), wait);
  }
}
