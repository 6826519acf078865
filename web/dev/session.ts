/** One mock session: its record, its stream with an offset, its sockets (protocol-websocket). */
import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import type { Session } from "../src/api/types.ts";
import { Shell } from "./shell.ts";

const RING = 8 * 1024 * 1024;
const SOCKETS_MAX = 5;

export interface Hub {
  publish(name: string, data: unknown): void;
}

interface Typed {
  t?: unknown;
  d?: unknown;
  seq?: unknown;
  c?: unknown;
  r?: unknown;
}

export class MockSession {
  record: Session;
  private epoch = randomUUID();
  private log = Buffer.alloc(0);
  private start = 0;
  private shell: Shell | undefined;
  private away = false;
  private readonly held: string[] = [];
  private readonly sockets = new Map<string, WebSocket>();
  private readonly seen = new Map<string, number>();
  private readonly hub: Hub;

  constructor(record: Session, hub: Hub) {
    this.record = record;
    this.hub = hub;
  }

  private get end(): number {
    return this.start + this.log.length;
  }

  update(change: Partial<Session>): void {
    this.record = { ...this.record, ...change };
    this.hub.publish("session:updated", this.record);
  }

  run(): void {
    this.epoch = randomUUID();
    this.log = Buffer.alloc(0);
    this.start = 0;
    this.shell = new Shell({
      write: (text) => this.write(text),
      exit: (status) => this.exited(status),
      status: (status) => this.status(status),
      size: () => ({ cols: this.record.cols, rows: this.record.rows }),
    });
    this.update({
      pid: 4000 + Math.floor(Math.random() * 1000),
      status: "idle",
      respawnBlocked: false,
      detached: false,
    });
    this.shell.start();
  }

  write(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    this.log = Buffer.concat([this.log, bytes]);
    if (this.log.length > RING) {
      this.start += this.log.length - RING;
      this.log = this.log.subarray(-RING);
    }
    for (const socket of this.sockets.values()) socket.send(bytes, { binary: true });
  }

  private status(status: "idle" | "busy" | "blocked"): void {
    const data = { id: this.record.id, at: Date.now() };
    if (status === "blocked") return this.hub.publish("session:blocked", data);
    this.record = {
      ...this.record,
      status,
      statusReason: status === "busy" ? "sustained output" : "prompt on the screen",
    };
    this.hub.publish(status === "busy" ? "session:working" : "session:idle", data);
  }

  private exited(status: number): void {
    this.shell = undefined;
    this.record = { ...this.record, pid: null, paneExit: { status, at: Date.now() } };
    for (const socket of this.sockets.values()) this.send(socket, { t: "exit", status });
    this.hub.publish("session:exit", { id: this.record.id, status });
  }

  /** The whole stream as plain lines, as a capture would give them. */
  capture(): string {
    return this.log.toString("utf8");
  }

  get offset(): number {
    return this.end;
  }

  get epochNow(): string | null {
    return this.record.pid === null ? null : this.epoch;
  }

  attach(socket: WebSocket, cid: string, epoch: string | null, since: number): void {
    const old = this.sockets.get(cid);
    this.sockets.delete(cid);
    old?.close(4010, "replaced");
    if (this.sockets.size >= SOCKETS_MAX) return socket.close(4008, "too many viewers");
    const resumed = epoch === this.epoch && since >= this.start && since <= this.end;
    const offset = resumed ? since : this.end;
    const { cols, rows } = this.record;
    this.send(socket, { t: "hello", v: 1, epoch: this.epoch, offset, cols, rows, resumed });
    if (resumed) socket.send(this.log.subarray(since - this.start), { binary: true });
    else this.send(socket, { t: "snapshot", offset, cols, rows, data: this.capture() });
    this.sockets.set(cid, socket);
    socket.on("message", (data, binary) => this.received(socket, cid, String(data), binary));
    socket.on("close", () => this.sockets.get(cid) === socket && this.sockets.delete(cid));
  }

  /** The way to its host goes or comes back; meanwhile nothing that is typed arrives there. */
  far(up: boolean, nextAt: number | undefined): void {
    this.away = !up;
    for (const socket of this.sockets.values())
      this.send(socket, { t: "link", up, ...(nextAt !== undefined && { nextAt }) });
    if (up) this.shell?.input(this.held.splice(0).join(""));
  }

  /** A prompt is one paste and one Enter, however many lines it has. */
  prompted(text: string): void {
    this.write(`\r\n\x1b[2m>\x1b[0m ${text.replaceAll("\n", "\r\n  ")}\r\n`);
  }

  private send(socket: WebSocket, frame: unknown): void {
    socket.send(JSON.stringify(frame));
  }

  private received(socket: WebSocket, cid: string, text: string, binary: boolean): void {
    if (binary) return socket.close(1003);
    const frame = JSON.parse(text) as Typed;
    if (frame.t === "i" && typeof frame.d === "string") this.typed(socket, cid, frame.d, frame.seq);
    if (frame.t === "z") this.resized(Number(frame.c), Number(frame.r));
  }

  private typed(socket: WebSocket, cid: string, data: string, seq: unknown): void {
    if (typeof seq !== "number") return;
    const last = this.seen.get(cid) ?? -1;
    if (seq <= last) return this.send(socket, { t: "ack", seq, dup: true, last });
    if (!this.shell) return this.send(socket, { t: "ack", seq, err: "CONFLICT" });
    this.seen.set(cid, seq);
    this.send(socket, { t: "ack", seq, ...(this.away && { buffered: true }) });
    if (this.away) this.held.push(data);
    else this.shell.input(data);
  }

  private resized(cols: number, rows: number): void {
    if (cols === this.record.cols && rows === this.record.rows) return;
    this.update({ cols, rows });
    for (const socket of this.sockets.values()) this.send(socket, { t: "size", c: cols, r: rows });
    this.shell?.resized();
  }

  /** @param code 1006 cuts the connections without a word. */
  drop(code: number): void {
    for (const socket of this.sockets.values()) {
      if (code === 1006) socket.terminate();
      else socket.close(code);
    }
    this.sockets.clear();
  }
}
