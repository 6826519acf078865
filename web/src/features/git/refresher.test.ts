import { describe, expect, test } from "vitest";
import { EVERY_MS, GAP_MS, LEAST_MS, Refresher, SETTLE_MS } from "./state.ts";

/** A clock whose timers a test lets run, and a service that answers when it is told to. */
class World {
  now = 1_000_000;
  reads: string[] = [];
  answered = new Map<string, number>();
  #timers: { at: number; act: () => void }[] = [];
  #finish: (() => void)[] = [];
  slow = false;

  readonly refresher = new Refresher({
    now: () => this.now,
    later: (act, ms) => {
      const timer = { at: this.now + ms, act };
      this.#timers.push(timer);
      return () => (this.#timers = this.#timers.filter((other) => other !== timer));
    },
    read: (id) => this.#read(id),
    answeredAt: (id) => this.answered.get(id),
  });

  #read(id: string): Promise<void> {
    this.reads.push(id);
    if (!this.slow) this.answered.set(id, this.now);
    return this.slow ? new Promise((resolve) => this.#finish.push(resolve)) : Promise.resolve();
  }

  finish(id: string): void {
    this.answered.set(id, this.now);
    this.#finish.shift()?.();
  }

  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      for (let n = 0; n < 5; n++) await Promise.resolve();
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.now = next.at;
      next.act();
    }
    this.now = end;
  }
}

describe("reading workspaces", () => {
  test("a session that comes to the front is read once it stays there", async () => {
    const world = new World();
    world.refresher.look("a", true);
    await world.pass(SETTLE_MS - 1);
    world.refresher.look("b", true);
    await world.pass(SETTLE_MS + GAP_MS);
    expect(world.reads).toEqual(["b"]);
  });

  test("what was passed by is read only where it has news of its own", async () => {
    const world = new World();
    world.refresher.look("a", true);
    world.refresher.ask("a");
    for (let n = 0; n < 20; n++) world.refresher.look(`s${n}`, true);
    await world.pass(SETTLE_MS + 2 * GAP_MS);
    expect(world.reads).toEqual(["s19", "a"]);
  });

  test("the one in front is read at intervals", async () => {
    const world = new World();
    world.refresher.look("a", true);
    await world.pass(3 * EVERY_MS + SETTLE_MS);
    expect(world.reads).toEqual(["a", "a", "a", "a"]);
  });

  test("a hidden page reads nothing, and what waited is given up", async () => {
    const world = new World();
    world.refresher.look("a", true);
    world.refresher.ask("b");
    world.refresher.look("a", false);
    world.refresher.ask("c");
    await world.pass(10 * EVERY_MS);
    expect([world.reads, world.refresher.waiting]).toEqual([[], 0]);
    world.refresher.look("a", true);
    await world.pass(SETTLE_MS);
    expect(world.reads).toEqual(["a"]);
  });

  test("fifty turns that end together are read one after the other, each once", async () => {
    const world = new World();
    world.slow = true;
    world.refresher.look("s0", true);
    for (let turn = 0; turn < 3; turn++) for (let n = 0; n < 50; n++) world.refresher.ask(`s${n}`);
    expect(world.refresher.waiting).toBe(50);
    for (let n = 0; n < 50; n++) {
      await world.pass(GAP_MS);
      expect(world.reads).toHaveLength(n + 1);
      world.finish(world.reads[n] ?? "");
    }
    expect(world.reads[0]).toBe("s0");
    expect(new Set(world.reads).size).toBe(50);
  });

  test("a session that tells much is read no more often than the bound", async () => {
    const world = new World();
    world.refresher.look("a", true);
    for (let n = 0; n < 100; n++) {
      world.refresher.ask("a");
      await world.pass(LEAST_MS / 10);
    }
    expect(world.reads.length).toBeGreaterThanOrEqual(9);
    expect(world.reads.length).toBeLessThanOrEqual(11);
  });

  test("a young answer is good enough, a session that is gone is not read", async () => {
    const world = new World();
    world.answered.set("a", world.now - LEAST_MS / 2);
    world.refresher.look("a", true);
    world.refresher.ask("gone");
    world.refresher.drop("gone");
    await world.pass(EVERY_MS - 1);
    expect(world.reads).toEqual([]);
  });

  test("asking while a read is under way reads once more behind it", async () => {
    const world = new World();
    world.slow = true;
    world.refresher.look("a", true);
    await world.pass(SETTLE_MS);
    world.refresher.ask("a");
    await world.pass(GAP_MS);
    expect(world.reads).toEqual(["a"]);
    world.finish("a");
    await world.pass(LEAST_MS);
    expect(world.reads).toEqual(["a", "a"]);
  });

  test("only the seen session is in front", () => {
    const world = new World();
    world.refresher.look("a", true);
    expect([world.refresher.isFront("a"), world.refresher.isFront("b")]).toEqual([true, false]);
    world.refresher.look("a", false);
    expect(world.refresher.isFront("a")).toBe(false);
  });
});
