import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EventStream, type Opened, SILENCE_MS, type StreamState } from "./eventstream.ts";

interface Attempt {
  lastId: string | undefined;
  signal: AbortSignal;
  open(status?: number): void;
  refuse(): void;
  text(piece: string): void;
  end(): void;
}

/** A body whose pieces come when the test says so. */
function body() {
  const waiting: string[] = [];
  let wake = () => {};
  let ended = false;
  async function* read(): AsyncGenerator<string> {
    for (;;) {
      const piece = waiting.shift();
      if (piece !== undefined) yield piece;
      else if (ended) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const text = (piece: string) => {
    waiting.push(piece);
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  return { read, text, end };
}

function setUp() {
  const attempts: Attempt[] = [];
  const states: StreamState[] = [];
  const names: string[] = [];
  let online = true;
  let silences = 0;
  const refusals: number[] = [];
  const stream = new EventStream({
    open: (lastId, signal) =>
      new Promise<Opened>((resolve, reject) => {
        const { read, text, end } = body();
        const open = (status = 200) => resolve({ status, text: read() });
        attempts.push({ lastId, signal, open, refuse: () => reject(new Error("lost")), text, end });
      }),
    online: () => online,
    random: () => 1,
    onMessage: (message) => names.push(message.event),
    onState: (state) => states.push(state),
    onRefused: (status) => refusals.push(status),
    onSilence: () => (silences += 1),
  });
  stream.connect();
  const last = (): Attempt => attempts.at(-1) as Attempt;
  const settle = () => vi.advanceTimersByTimeAsync(0);
  return {
    stream,
    attempts,
    states,
    names,
    last,
    settle,
    silences: () => silences,
    refusals,
    goOffline: () => (online = false),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const EVENT = "event: session:idle\nid: b-7\ndata: {}\n\n";

describe("EventStream", () => {
  test("delivers messages and resumes behind the last one", async () => {
    const { attempts, names, last, settle } = setUp();
    last().open();
    last().text(EVENT);
    await settle();
    last().end();
    await vi.advanceTimersByTimeAsync(500);
    expect(names).toEqual(["session:idle"]);
    expect(attempts.map((attempt) => attempt.lastId)).toEqual([undefined, "b-7"]);
  });

  test("after forgetting it starts from the beginning", async () => {
    const { stream, last, settle } = setUp();
    last().open();
    last().text(EVENT);
    await settle();
    stream.forget();
    stream.connect();
    expect(last().lastId).toBeUndefined();
  });

  test("silence of 45 seconds is a dead stream", async () => {
    const { attempts, last, settle, silences } = setUp();
    last().open();
    last().text(EVENT);
    await settle();
    await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
    expect(silences()).toBe(0);
    expect(attempts).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(attempts).toHaveLength(2);
    expect(attempts[0]?.signal.aborted).toBe(true);
    expect(silences()).toBe(1);
  });

  test("a heartbeat is a sign of life", async () => {
    const { attempts, last } = setUp();
    last().open();
    for (let n = 0; n < 6; n++) {
      await vi.advanceTimersByTimeAsync(15_000);
      last().text('event: sse:heartbeat\ndata: {"t":1}\n\n');
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(attempts).toHaveLength(1);
  });

  test("an offline device does not judge the silence", async () => {
    const { attempts, last, settle, goOffline } = setUp();
    last().open();
    await settle();
    goOffline();
    await vi.advanceTimersByTimeAsync(SILENCE_MS * 3);
    expect(attempts).toHaveLength(1);
  });

  test("waits grow with each failure and start over with the first text", async () => {
    const { attempts, states, last, settle } = setUp();
    last().refuse();
    await settle();
    expect(states.at(-1)).toBe("retrying");
    await vi.advanceTimersByTimeAsync(500);
    expect(attempts).toHaveLength(2);
    last().refuse();
    await vi.advanceTimersByTimeAsync(999);
    expect(attempts).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(attempts).toHaveLength(3);
    last().open();
    last().text(EVENT);
    await settle();
    last().end();
    await vi.advanceTimersByTimeAsync(500);
    expect(attempts).toHaveLength(4);
  });

  test("503 is tried again, 401 is not", async () => {
    const { attempts, states, last, refusals } = setUp();
    last().open(503);
    await vi.advanceTimersByTimeAsync(500);
    expect(attempts).toHaveLength(2);
    last().open(401);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states.at(-1)).toBe("signed-out");
    expect(refusals).toEqual([401]);
    expect(attempts).toHaveLength(2);
  });

  test("403 is told, and tried again", async () => {
    const { attempts, last, refusals } = setUp();
    last().open(403);
    await vi.advanceTimersByTimeAsync(500);
    expect(refusals).toEqual([403]);
    expect(attempts).toHaveLength(2);
  });

  test("connecting anew drops the connection that was under way", async () => {
    const { stream, attempts, names, settle } = setUp();
    stream.connect();
    attempts[0]?.open();
    attempts[0]?.text(EVENT);
    await settle();
    expect(names).toEqual([]);
    expect(attempts[0]?.signal.aborted).toBe(true);
  });

  test("suspended it keeps silent until asked, and then starts from the beginning", async () => {
    const { stream, attempts, names, last, settle } = setUp();
    last().open();
    last().text(EVENT);
    await settle();
    stream.suspend();
    last().text(EVENT);
    await vi.advanceTimersByTimeAsync(SILENCE_MS * 2);
    expect(names).toHaveLength(1);
    expect(attempts).toHaveLength(1);
    stream.connect();
    expect(last().lastId).toBeUndefined();
  });

  test("closed means closed", async () => {
    const { stream, attempts, last } = setUp();
    last().refuse();
    stream.close();
    stream.connect();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(attempts).toHaveLength(1);
  });
});
