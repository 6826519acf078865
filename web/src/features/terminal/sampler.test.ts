import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TerminalResponse } from "../../api/types.ts";
import { APART_MS, FLOOD_BYTES, FloodGauge, REST_MS, SAMPLE_MS, Sampler } from "./sampler.ts";

const screen = (offset: number) =>
  ({
    terminalBuffer: String(offset),
    captureCols: 80,
    captureRows: 24,
    offset,
    epoch: "e",
  }) as TerminalResponse;

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await vi.advanceTimersByTimeAsync(9 * APART_MS);
  vi.useRealTimers();
});

function sampled(read: () => Promise<TerminalResponse>, hidden = () => false) {
  const drawn: string[] = [];
  const calm = vi.fn();
  const draw = ({ terminalBuffer }: TerminalResponse) => drawn.push(terminalBuffer);
  const sampler = new Sampler({ read, hidden, calm, draw });
  return { sampler, drawn, calm };
}

test("a flood is read twice a second", async () => {
  let offset = 0;
  const { sampler, drawn } = sampled(() => Promise.resolve(screen(++offset)));
  sampler.start();
  sampler.start();
  await vi.advanceTimersByTimeAsync(10 * SAMPLE_MS - 1);
  expect(drawn).toHaveLength(10);
  sampler.stop();
  await vi.advanceTimersByTimeAsync(REST_MS);
  expect(drawn).toHaveLength(10);
});

test("what does not change is read ever more seldom, and drawn once", async () => {
  const read = vi.fn(() => Promise.resolve(screen(7)));
  const { sampler, drawn } = sampled(read);
  sampler.start();
  await vi.advanceTimersByTimeAsync(SAMPLE_MS + 1_000 + 2_000 + 2 * REST_MS);
  expect(read.mock.calls.length).toBeLessThan(8);
  expect(drawn).toEqual(["7"]);
  const before = read.mock.calls.length;
  sampler.again();
  await vi.advanceTimersByTimeAsync(SAMPLE_MS);
  expect(read.mock.calls.length).toBe(before + 1);
  sampler.again(true);
  await vi.advanceTimersByTimeAsync(SAMPLE_MS);
  expect(drawn).toEqual(["7", "7"]);
});

test("a flood is over when the screen stays the same", async () => {
  let offset = 0;
  let step = 1;
  const { sampler, calm } = sampled(() => Promise.resolve(screen((offset += step))));
  sampler.start();
  await vi.advanceTimersByTimeAsync(10 * SAMPLE_MS);
  expect(calm).not.toHaveBeenCalled();
  step = 0;
  await vi.advanceTimersByTimeAsync(2 * REST_MS);
  expect(calm).toHaveBeenCalled();
  sampler.stop();
});

test("so many bytes a second are a flood", () => {
  const gauge = new FloodGauge();
  expect(gauge.isFlood(FLOOD_BYTES, 5_000)).toBe(false);
  expect(gauge.isFlood(FLOOD_BYTES, 6_500)).toBe(false);
  expect(gauge.isFlood(1, 7_000)).toBe(true);
});

test("several are drawn one after the other", async () => {
  const drawn: number[] = [];
  const all = [1, 2, 3].map(
    (n) =>
      new Sampler({
        read: () => Promise.resolve(screen(n)),
        hidden: () => false,
        calm: () => {},
        draw: () => drawn.push(n),
      }),
  );
  all.forEach((sampler) => sampler.start());
  await vi.advanceTimersByTimeAsync(0);
  const seen = [drawn.length];
  for (const _ of all) {
    await vi.advanceTimersByTimeAsync(APART_MS);
    seen.push(drawn.length);
  }
  expect(seen).toEqual([1, 2, 3, 3]);
  all.forEach((sampler) => sampler.stop());
  await vi.advanceTimersByTimeAsync(APART_MS);
});

test("an answer to an earlier start is not drawn", async () => {
  const answers: ((screen: TerminalResponse) => void)[] = [];
  const { sampler, drawn } = sampled(() => new Promise((resolve) => answers.push(resolve)));
  sampler.start();
  sampler.stop();
  sampler.start();
  answers[1]?.(screen(2));
  answers[0]?.(screen(1));
  await vi.advanceTimersByTimeAsync(0);
  expect(drawn).toEqual(["2"]);
});

test("a failure and a hidden page end nothing", async () => {
  const out = vi.spyOn(console, "info").mockImplementation(() => undefined);
  let hidden = false;
  const read = vi.fn().mockRejectedValueOnce(new Error("lost")).mockResolvedValue(screen(3));
  const { sampler, drawn } = sampled(read, () => hidden);
  sampler.start();
  await vi.advanceTimersByTimeAsync(REST_MS - 1);
  expect([drawn, out.mock.calls.length]).toEqual([[], 1]);
  hidden = true;
  await vi.advanceTimersByTimeAsync(REST_MS);
  expect(drawn).toEqual([]);
  hidden = false;
  await vi.advanceTimersByTimeAsync(REST_MS + APART_MS);
  expect(drawn).toEqual(["3"]);
});
