import { expect, test } from "vitest";
import { describeTime, formatSpan, keepsGoing, lastLine } from "./keepgoing.ts";
import { going, run } from "./fixtures.ts";
import { describeResult } from "./texts.ts";

test("lengths of time", () => {
  expect([0, 5, 60, 80, 120].map(formatSpan)).toEqual(["0 min", "5 min", "1 h", "1 h 20 min", "2 h"]);
});

test("what is left, while there is something left", () => {
  expect(describeTime(going(), 5_400_000 - 61_000)).toBe("2 min left of 1 h 30 min");
  expect(describeTime(going(), 9_000_000)).toBe("0 min left of 1 h 30 min");
  expect(describeTime(going(), -70_000)).toBe("1 h 30 min left of 1 h 30 min");
  expect(describeTime(going({ state: "failed" }), 0)).toBe("of 1 h 30 min");
});

test("how it stands", () => {
  expect([lastLine(going()), lastLine(going({ logs: [] }))]).toEqual(["prompt sent", ""]);
  expect([keepsGoing(run({ keepGoing: going() })), keepsGoing(run())]).toEqual([true, false]);
});

test.each([
  [{ keepGoing: going() }, { tone: "busy", word: "1 h 30 min left of 1 h 30 min, 2 turns" }],
  [
    { status: "session_started", keepGoing: going({ lines: 0, turns: 0, logs: ["T a dialog is open"] }) },
    { tone: "busy", word: "waiting to send the prompt", reason: "a dialog is open" },
  ],
  [{ keepGoing: going({ state: "completed" }) }, { tone: "good", word: "time is up, 2 turns" }],
  [{ keepGoing: going({ state: "stopped" }) }, { tone: "plain", word: "stopped, 2 turns" }],
  [
    { keepGoing: going({ state: "failed" }), errorMessage: "the session ended" },
    { tone: "bad", word: "failed, 2 turns", reason: "the session ended" },
  ],
] as const)("the result of a run", (part, result) => {
  const { keepGoing, ...rest } = part;
  const logs = [...keepGoing.logs];
  expect(describeResult(run({ ...rest, keepGoing: { ...keepGoing, logs } }), 0)).toEqual(result);
});
