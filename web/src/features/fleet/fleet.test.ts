import { afterEach, beforeEach, expect, test, vi } from "vitest";

const calls = vi.hoisted(() => ({ readScreen: vi.fn() }));
vi.mock("../../api/calls.ts", () => calls);

const { follow, lastLines, LINES, screens } = await import("./screens.ts");

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  calls.readScreen
    .mockReset()
    .mockImplementation((id: string) => Promise.resolve({ terminalBuffer: `of ${id}\r\n\r\n` }));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("the last lines, without colours, titles and blanks", () => {
  expect(lastLines("\x1b]0;title\x07\x1b[1;32mone\x1b[0m\r\n\r\n  two  \r\n\x1b[K\r\n")).toBe("one\n  two");
  const many = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\r\n");
  expect(lastLines(many).split("\n")).toHaveLength(LINES);
  expect(lastLines(many)).toContain("line 29");
});

test("cards are read one after the other, and none that is out of view", async () => {
  const stops = [follow("a"), follow("b")];
  await vi.advanceTimersByTimeAsync(1000);
  expect(calls.readScreen.mock.calls.map(([id]) => id as string)).toEqual(["a", "b", "a", "b"]);
  expect(screens.value.get("b")).toBe("of b");
  for (const stop of stops) stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(calls.readScreen).toHaveBeenCalledTimes(4);
  expect(screens.value.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("nothing is read while nobody looks, nor given up when a read fails", async () => {
  vi.stubGlobal("document", { hidden: true });
  const stop = follow("a");
  await vi.advanceTimersByTimeAsync(1000);
  expect(calls.readScreen).not.toHaveBeenCalled();
  vi.stubGlobal("document", { hidden: false });
  calls.readScreen.mockRejectedValueOnce(new Error("lost"));
  vi.spyOn(console, "info").mockImplementation(() => undefined);
  await vi.advanceTimersByTimeAsync(1000);
  expect(screens.value.get("a")).toBe("of a");
  stop();
});
