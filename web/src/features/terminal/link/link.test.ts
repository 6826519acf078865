import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type LinkListener, type LinkState, PATIENCE_MS, type SocketHandlers, TerminalLink } from "./link.ts";

class FakeSocket {
  readonly path: string;
  readonly handlers: SocketHandlers;
  readonly sent: Record<string, unknown>[] = [];
  closed = false;
  closing = false;

  constructor(path: string, handlers: SocketHandlers) {
    this.path = path;
    this.handlers = handlers;
  }

  send(text: string): boolean {
    if (this.closing) return false;
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
    return true;
  }

  close(): void {
    this.closed = true;
  }

  frame(frame: unknown): void {
    this.handlers.onText(JSON.stringify(frame));
  }

  hello(offset: number, resumed: boolean, epoch = "e1"): void {
    this.frame({ t: "hello", v: 1, epoch, offset, cols: 80, rows: 24, resumed });
  }

  snapshot(offset: number): void {
    this.frame({ t: "snapshot", offset, cols: 80, rows: 24, data: "screen" });
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.path.split("?")[1]);
  }

  inputs(): unknown[] {
    return this.sent.filter((frame) => frame["t"] === "i").map((frame) => frame["d"]);
  }
}

function setUp() {
  const sockets: FakeSocket[] = [];
  const states: LinkState[] = [];
  const lost: string[] = [];
  const ways: boolean[] = [];
  const held: number[] = [];
  const roundTrips: number[] = [];
  const drawn: (() => void)[] = [];
  const listener: LinkListener = {
    state: (state) => states.push(state),
    hello: () => {},
    snapshot: (_snapshot, done) => drawn.push(done),
    output: (_bytes, done) => drawn.push(done),
    size: () => {},
    exit: () => {},
    inputLost: (code) => lost.push(code),
    far: (up) => ways.push(up),
    inputHeld: (chars) => held.push(chars),
    answered: () => roundTrips.push(link.roundTrip),
  };
  const connect = (path: string, handlers: SocketHandlers) => {
    const socket = new FakeSocket(path, handlers);
    sockets.push(socket);
    return socket;
  };
  const link = new TerminalLink({ connect, now: Date.now, random: () => 0 }, listener, "s 1", "cid");
  link.connect();
  const last = (): FakeSocket => sockets.at(-1) as FakeSocket;
  return { link, sockets, states, lost, ways, held, roundTrips, drawn, last };
}

/** An open connection whose screen stands at offset 100. */
function opened() {
  const all = setUp();
  all.last().hello(100, false);
  all.last().snapshot(100);
  return all;
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("connecting", () => {
  test("a first connection asks for no resume", () => {
    const { last } = setUp();
    expect(last().path).toBe("ws/sessions/s%201/terminal?cid=cid");
  });

  test("a lost connection resumes behind the last byte", () => {
    const { last } = opened();
    last().handlers.onBytes(new Uint8Array(23));
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(1_000);
    expect(last().query.get("epoch")).toBe("e1");
    expect(last().query.get("since")).toBe("123");
  });

  test("answers tell the round trip, unless an input was sent twice", () => {
    const { link, roundTrips, last } = opened();
    const answer = () =>
      last().frame({ t: "ack", seq: last().sent.findLast((each) => each["t"] === "i")?.["seq"] });
    const type = (wait: number) => {
      link.input("a");
      vi.advanceTimersByTime(wait);
      answer();
    };
    type(300);
    expect([link.roundTrip, link.inputs.sent - link.inputs.answered]).toEqual([75, 0]);
    type(475);
    expect(link.roundTrip).toBe(175);
    link.input("a");
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(2_000);
    last().hello(100, true);
    expect(link.inputs.sent - link.inputs.answered).toBe(1);
    answer();
    expect(roundTrips).toEqual([75, 175]);
  });

  test("what is typed while a socket closes is sent by the next one", () => {
    const { link, last } = opened();
    last().closing = true;
    link.input("late");
    last().handlers.onBytes(new Uint8Array(1));
    vi.advanceTimersByTime(200);
    expect(last().sent).toEqual([]);
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(1_000);
    last().hello(101, true);
    expect(last().inputs()).toEqual(["late"]);
  });

  test("a hello without resume makes the old screen worthless until its snapshot", () => {
    const { last } = opened();
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(1_000);
    last().hello(500, false, "e2");
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(2_000);
    expect(last().query.has("since")).toBe(false);
  });

  test("a session without a process has no epoch to resume", () => {
    const { last } = setUp();
    last().frame({ t: "hello", v: 1, epoch: null, offset: 0, cols: 80, rows: 24, resumed: false });
    last().snapshot(0);
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(1_000);
    expect(last().query.has("epoch")).toBe(false);
  });

  test("waits grow while it fails and start over after a hello", () => {
    const { sockets, last } = setUp();
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(149);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(299);
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(1);
    last().hello(0, false);
    last().handlers.onClose(1006);
    vi.advanceTimersByTime(150);
    expect(sockets).toHaveLength(4);
  });

  test("an old socket's late words are not heard", () => {
    const { link, sockets, states } = opened();
    link.connect();
    sockets[0]?.handlers.onClose(4009);
    expect(states.at(-1)).toBe("connecting");
    expect(sockets[0]?.closed).toBe(true);
  });
});

describe("close codes", () => {
  test.each([
    [4003, "forbidden"],
    [4004, "gone"],
    [4008, "crowded"],
    [4009, "ended"],
    [4010, "replaced"],
  ] as const)("%i ends as %s and is not tried again", (code, state) => {
    const { sockets, states, last, link } = opened();
    last().handlers.onClose(code);
    vi.advanceTimersByTime(60_000);
    link.refresh();
    expect(states.at(-1)).toBe(state);
    expect(sockets).toHaveLength(1);
  });

  test("after 4003 a new sign-in is tried once", () => {
    const { link, sockets, states, last } = opened();
    for (const tries of [2, 3]) {
      last().handlers.onClose(4003);
      vi.advanceTimersByTime(60_000);
      link.hurry();
      expect(sockets).toHaveLength(tries);
    }
    last().hello(0, true);
    expect(states.at(-1)).toBe("open");
  });

  test.each([1001, 1006, 1011])("%i is tried again", (code) => {
    const { sockets, last } = opened();
    last().handlers.onClose(code);
    vi.advanceTimersByTime(10_000);
    expect(sockets.length).toBeGreaterThan(1);
  });

  test.each([1003, 1009])("after %i the input that caused it is not sent again", (code) => {
    const { link, last, lost } = opened();
    link.input("x");
    last().handlers.onClose(code);
    vi.advanceTimersByTime(1_000);
    last().hello(100, true);
    expect(last().inputs()).toEqual([]);
    expect(lost).toEqual(["OPERATION_FAILED"]);
  });
});

describe("wake", () => {
  test("a connection in doubt is made anew and resumes", () => {
    const { link, sockets, last } = opened();
    link.refresh();
    expect(sockets).toHaveLength(2);
    expect(last().query.get("since")).toBe("100");
  });

  test("a service that is back is asked at once, an open connection is left alone", () => {
    const { link, sockets, last } = opened();
    link.hurry();
    expect(sockets).toHaveLength(1);
    last().handlers.onClose(1001);
    link.hurry();
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
    expect(sockets).toHaveLength(2);
  });
});

describe("input", () => {
  test("is numbered upwards and leaves at once", () => {
    const { link, last } = opened();
    link.input("a");
    link.input("b");
    const [a, b] = last().sent;
    expect([a?.["d"], b?.["d"]]).toEqual(["a", "b"]);
    expect(b?.["seq"]).toBe((a?.["seq"] as number) + 1);
  });

  test("what was not acknowledged is sent again with its number, what was is not", () => {
    const { link, last } = opened();
    link.input("a");
    link.input("b");
    const first = last();
    const b = first.sent[1];
    first.frame({ t: "ack", seq: first.sent[0]?.["seq"] });
    first.handlers.onClose(1006);
    vi.advanceTimersByTime(1_000);
    last().hello(100, true);
    expect(last().sent).toEqual([b]);
  });

  test("waits while the connection is away and keeps its order", () => {
    const { link, last } = opened();
    link.input("a");
    last().handlers.onClose(1001);
    link.input("b");
    link.input("c");
    vi.advanceTimersByTime(1_000);
    last().hello(100, true);
    expect(last().inputs().join("")).toBe("abc");
  });

  test("a refusal is told and not repeated", () => {
    const { link, last, lost } = opened();
    link.input("a");
    last().frame({ t: "ack", seq: last().sent[0]?.["seq"], err: "CONFLICT" });
    expect(lost).toEqual(["CONFLICT"]);
    expect(link.outbox.size).toBe(0);
  });

  test("beyond the bound it is refused and told", () => {
    const { link, last, lost } = opened();
    last().handlers.onClose(1006);
    link.input("x".repeat(1024 * 1024));
    link.input("y");
    expect(lost).toEqual(["FULL"]);
  });

  test("without an answer the connection counts as half-open and is made anew", () => {
    const { link, sockets, last } = opened();
    link.input("a");
    vi.advanceTimersByTime(PATIENCE_MS - 1);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
    last().hello(100, true);
    expect(last().inputs()).toEqual(["a"]);
  });

  test("patience grows while nothing answers", () => {
    const { link, sockets, last } = opened();
    link.input("a");
    vi.advanceTimersByTime(PATIENCE_MS);
    last().hello(100, true);
    vi.advanceTimersByTime(PATIENCE_MS * 2 - 1);
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(3);
  });

  test("an answered input ends the watch", () => {
    const { link, sockets, last } = opened();
    link.input("a");
    last().frame({ t: "ack", seq: last().sent[0]?.["seq"] });
    vi.advanceTimersByTime(PATIENCE_MS * 3);
    expect(sockets).toHaveLength(1);
  });

  test("while the session's host is away nobody answers, and nothing is doubted", () => {
    const { link, sockets, ways, held, last } = opened();
    last().frame({ t: "link", up: false, nextAt: 2_000_000 });
    link.input("kept");
    last().frame({ t: "ack", seq: last().sent[0]?.["seq"], buffered: true });
    expect(held).toEqual([4]);
    link.input("a");
    vi.advanceTimersByTime(PATIENCE_MS * 30);
    expect(sockets).toHaveLength(1);
    last().frame({ t: "link", up: true });
    vi.advanceTimersByTime(PATIENCE_MS - 1);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(2);
    expect(ways).toEqual([false, true]);
  });

  test("numbers below the service's are raised and sent again", () => {
    const { link, last } = opened();
    link.input("a");
    link.input("b");
    const [a, b] = last().sent;
    last().frame({ t: "ack", seq: a?.["seq"], dup: true, last: 5_000_000 });
    last().frame({ t: "ack", seq: b?.["seq"], dup: true, last: 5_000_000 });
    const again = last().sent.slice(2);
    expect(again.map((frame) => [frame["d"], frame["seq"]])).toEqual([
      ["a", 5_000_001],
      ["b", 5_000_002],
    ]);
  });
});

describe("flow control", () => {
  test("tells what was drawn, not what was received", () => {
    const { last, drawn } = opened();
    drawn.shift()?.();
    vi.advanceTimersByTime(100);
    last().handlers.onBytes(new Uint8Array(10));
    last().handlers.onBytes(new Uint8Array(10));
    drawn.shift()?.();
    vi.advanceTimersByTime(100);
    expect(last().sent.map((frame) => frame["offset"])).toEqual([100, 110]);
  });

  test("many small pieces make one word", () => {
    const { last, drawn } = opened();
    for (let n = 0; n < 50; n++) last().handlers.onBytes(new Uint8Array(10));
    for (const done of drawn) done();
    vi.advanceTimersByTime(100);
    expect(last().sent).toEqual([{ t: "got", offset: 600 }]);
  });

  test("a large piece is told at once", () => {
    const { last, drawn } = opened();
    last().handlers.onBytes(new Uint8Array(300 * 1024));
    drawn.at(-1)?.();
    expect(last().sent).toEqual([{ t: "got", offset: 100 + 300 * 1024 }]);
  });
});

describe("a link that rests", () => {
  test("gives its connection back, and begins afresh with what was typed meanwhile", () => {
    const { link, last, states, sockets } = opened();
    link.rest();
    expect(last().closed).toBe(true);
    link.refresh();
    link.hurry();
    expect([sockets.length, states.at(-1)]).toEqual([1, "resting"]);
    link.input("ls");
    link.connect();
    expect(last().query.has("since")).toBe(false);
    last().hello(500, false);
    expect(last().inputs()).toEqual(["ls"]);
  });
});
