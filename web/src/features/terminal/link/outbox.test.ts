import { describe, expect, test } from "vitest";
import { CHARS_MAX, Outbox, WINDOW } from "./outbox.ts";

describe("Outbox", () => {
  test("joins what waits, but never what was sent", () => {
    const box = new Outbox(10);
    box.add("a");
    box.add("b");
    expect(box.takeNew(1).map((item) => [item.seq, item.data])).toEqual([[10, "ab"]]);
    box.add("c");
    expect(box.takeNew(2).map((item) => [item.seq, item.data])).toEqual([[11, "c"]]);
  });

  test("takes new input once", () => {
    const box = new Outbox(1);
    box.add("a");
    box.takeNew(1);
    expect(box.takeNew(2)).toEqual([]);
    expect(box.takeAgain(3)).toHaveLength(1);
  });

  test("a duplicate of input sent twice was typed before", () => {
    const box = new Outbox(1);
    box.add("a");
    box.takeNew(1);
    box.takeAgain(2);
    box.acknowledge({ t: "ack", seq: 1, dup: true, last: 9 });
    expect(box.size).toBe(0);
  });

  test("an unknown number changes nothing", () => {
    const box = new Outbox(1);
    box.add("a");
    box.takeNew(1);
    box.acknowledge({ t: "ack", seq: 77 });
    expect(box.size).toBe(1);
  });

  test("holds no more than its bounds", () => {
    const chars = new Outbox(1);
    expect(chars.add("x".repeat(CHARS_MAX))).toBe(true);
    expect(chars.add("y")).toBe(false);
    expect(chars.chars).toBe(CHARS_MAX);
  });

  test("fast typing gathers behind a full window", () => {
    const box = new Outbox(1);
    for (const key of "abcdefgh") {
      box.add(key);
      expect(box.takeNew(1).map((item) => item.data)).toEqual([key]);
    }
    for (const key of "ijk") {
      box.add(key);
      expect(box.takeNew(2)).toEqual([]);
    }
    expect(box.size).toBe(WINDOW + 1);
    box.acknowledge({ t: "ack", seq: 1 });
    expect(box.takeNew(3).map((item) => item.data)).toEqual(["ijk"]);
  });

  test("a new connection gets no more than the window either", () => {
    const box = new Outbox(1);
    box.add("x".repeat(CHARS_MAX));
    expect(box.takeAgain(1)).toHaveLength(WINDOW);
    expect(box.takeNew(1)).toEqual([]);
  });

  test("knows how long the oldest waits for its answer", () => {
    const box = new Outbox(1);
    expect(box.oldestSent()).toBeUndefined();
    box.add("a");
    expect(box.oldestSent()).toBeUndefined();
    box.takeNew(50);
    box.add("b");
    box.takeNew(60);
    expect(box.oldestSent()).toBe(50);
    box.acknowledge({ t: "ack", seq: 1 });
    expect(box.oldestSent()).toBe(60);
  });
});
