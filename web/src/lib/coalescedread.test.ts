import { expect, test, vi } from "vitest";
import { CoalescedRead } from "./coalescedread.ts";

/** A read whose answers a test gives by hand. */
function scene() {
  const answers: (() => void)[] = [];
  const outdated: boolean[] = [];
  const read = vi.fn(async (isOutdated: () => boolean) => {
    await new Promise<void>((done) => answers.push(done));
    outdated.push(isOutdated());
  });
  const reads = new CoalescedRead(read);
  const answer = async () => {
    answers.shift()?.();
    await new Promise((done) => setTimeout(done));
  };
  return { reads, read, answer, outdated };
}

test("one read at a time, and one more for all that were asked for meanwhile", async () => {
  const { reads, read, answer, outdated } = scene();
  const asked = [reads.now(), reads.now(), reads.now()];
  expect(read).toHaveBeenCalledTimes(1);
  await answer();
  expect(read).toHaveBeenCalledTimes(2);
  await answer();
  await Promise.all(asked);
  expect(read).toHaveBeenCalledTimes(2);
  expect(outdated).toEqual([true, false]);
});

test("what is told during a read makes another one, what is told between reads does not", async () => {
  const { reads, read, answer, outdated } = scene();
  reads.markOutdated();
  expect(read).not.toHaveBeenCalled();
  const asked = reads.now();
  reads.markOutdated();
  await answer();
  await answer();
  await asked;
  expect(outdated).toEqual([true, false]);
  reads.markOutdated();
  expect(read).toHaveBeenCalledTimes(2);
});

test("a read that fails is over", async () => {
  const read = vi.fn().mockRejectedValueOnce(new Error("no")).mockResolvedValue(undefined);
  const reads = new CoalescedRead(read);
  await expect(reads.now()).rejects.toThrow("no");
  await reads.now();
  expect(read).toHaveBeenCalledTimes(2);
});
