import { afterEach, describe, expect, test, vi } from "vitest";
import { dispatchServerEvent } from "../api/stream/events.ts";
import { resource } from "./resource.ts";

/** Answers of the service, each given when the test says so. */
function answers<T>() {
  const waiting: { resolve: (found: T) => void; reject: (error: Error) => void }[] = [];
  const read = vi.fn(() => new Promise<T>((resolve, reject) => waiting.push({ resolve, reject })));
  const give = async (act: (next: (typeof waiting)[number]) => void) => {
    await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0));
    const next = waiting.shift();
    if (next) act(next);
    await Promise.resolve();
  };
  return {
    read,
    answer: (found: T) => give(({ resolve }) => resolve(found)),
    refuse: (text: string) => give(({ reject }) => reject(new Error(text))),
  };
}

describe("a resource", () => {
  test("is read when it is followed, and forgotten afterwards", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read);
    expect([list.data.value, list.busy.value]).toEqual([undefined, true]);
    const end = list.follow();
    await answer(7);
    await vi.waitFor(() => expect([list.data.value, list.busy.value]).toEqual([7, false]));
    end();
    expect(list.data.value).toBeUndefined();
  });

  test("is read again at each of its events while somebody follows", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read, ["tunnel:", "admin:usersChanged"]);
    const end = list.follow();
    await answer(1);
    dispatchServerEvent("admin:usersChanged", {});
    await answer(2);
    dispatchServerEvent("tunnel:started", {});
    await answer(3);
    await vi.waitFor(() => expect(list.data.value).toBe(3));
    dispatchServerEvent("cli:changed", {});
    end();
    dispatchServerEvent("tunnel:started", {});
    expect(read).toHaveBeenCalledTimes(3);
  });

  test("takes what an event says instead of reading", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read, ["tunnel:"], {
      apply: (known, _, name) => (name === "tunnel:stopped" ? known + 1 : undefined),
    });
    list.follow();
    await answer(1);
    await vi.waitFor(() => expect(list.data.value).toBe(1));
    dispatchServerEvent("tunnel:stopped", {});
    expect(list.data.value).toBe(2);
    expect(read).toHaveBeenCalledTimes(1);
    dispatchServerEvent("tunnel:started", {});
    expect(read).toHaveBeenCalledTimes(2);
  });

  test("does not take an answer that an event has overtaken", async () => {
    const { read, answer } = answers<string>();
    const list = resource(read, ["tunnel:"]);
    list.follow();
    dispatchServerEvent("tunnel:started", {});
    await answer("old");
    expect(list.data.value).toBeUndefined();
    await answer("new");
    await vi.waitFor(() => expect(list.data.value).toBe("new"));
  });

  test("shows why a read failed until one succeeds", async () => {
    const { read, answer, refuse } = answers<number>();
    const list = resource(read);
    list.follow();
    await refuse("no answer");
    await vi.waitFor(() => expect([list.trouble.value, list.busy.value]).toEqual(["no answer", false]));
    void list.refresh();
    await answer(1);
    await vi.waitFor(() => expect([list.data.value, list.trouble.value]).toEqual([1, ""]));
  });

  test("shows why an action failed although the next read succeeds", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read, [], { failed: (error) => `Sorry: ${(error as Error).message}` });
    list.follow();
    await answer(1);
    const done = list.attempt(() => Promise.reject(new Error("it is in use")));
    expect(list.busy.value).toBe(true);
    await answer(2);
    await done;
    expect([list.data.value, list.trouble.value, list.busy.value]).toEqual([2, "Sorry: it is in use", false]);
    void list.attempt();
    expect(list.trouble.value).toBe("");
  });

  test("says nothing of an action that ends after its page was closed", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read);
    const end = list.follow();
    await answer(1);
    let fail = (_: Error) => {};
    const done = list.attempt(() => new Promise((_, reject) => (fail = reject)));
    end();
    fail(new Error("too late"));
    await done;
    expect([list.trouble.value, read.mock.calls.length]).toEqual(["", 1]);
  });

  test("is followed by several, until the last one ends", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read, ["tunnel:"]);
    const ends = [list.follow(), list.follow()];
    await answer(1);
    await answer(2);
    await vi.waitFor(() => expect(list.data.value).toBe(2));
    ends[0]?.();
    expect(list.data.value).toBe(2);
    ends[1]?.();
    expect(list.data.value).toBeUndefined();
  });

  test("can be kept, and read without a follower", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read, [], { keep: true });
    void list.refresh();
    await answer(1);
    list.follow()();
    await answer(2);
    await vi.waitFor(() => expect(list.data.value).toBe(2));
  });

  test("drops an answer that comes after its page was closed, and does not wait for it", async () => {
    const { read, answer } = answers<number>();
    const list = resource(read);
    list.follow()();
    const end = list.follow();
    expect(read).toHaveBeenCalledTimes(2);
    await answer(1);
    expect(list.data.value).toBeUndefined();
    await answer(2);
    await vi.waitFor(() => expect([list.data.value, list.busy.value]).toEqual([2, false]));
    end();
  });
});

describe("a resource without events", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("is read at intervals while the page is visible", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("document", { hidden: false });
    const read = vi.fn(() => Promise.resolve(1));
    const end = resource(read, [], { every: 1_000 }).follow();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(read).toHaveBeenCalledTimes(3);
    vi.stubGlobal("document", { hidden: true });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(read).toHaveBeenCalledTimes(3);
    end();
    expect(vi.getTimerCount()).toBe(0);
  });
});
