import { expect, test } from "vitest";
import type { TimedRunResponse } from "../../api/types.ts";
import { lastLine, formatSpan, describeStatus, describeTime } from "./state.ts";

const RUN: TimedRunResponse = {
  id: "1",
  prompt: "tidy up",
  workingDir: "/w",
  durationMinutes: 90,
  startedAt: 0,
  endAt: 5_400_000,
  status: "running",
  sessionId: null,
  turns: 2,
  logs: ["1970-01-01T00:00:00Z prompt sent"],
};

test("lengths of time", () => {
  expect([0, 5, 60, 80, 120].map(formatSpan)).toEqual(["0 min", "5 min", "1 h", "1 h 20 min", "2 h"]);
});

test("what is left, while there is something left", () => {
  expect(describeTime(RUN, 5_400_000 - 61_000)).toBe("2 min left of 1 h 30 min");
  expect(describeTime(RUN, 9_000_000)).toBe("0 min left of 1 h 30 min");
  expect(describeTime(RUN, -70_000)).toBe("1 h 30 min left of 1 h 30 min");
  expect(describeTime({ ...RUN, status: "failed" }, 0)).toBe("of 1 h 30 min");
});

test("how it stands", () => {
  expect([describeStatus(RUN), lastLine(RUN), lastLine({ ...RUN, logs: [] })]).toEqual([
    "Running",
    "prompt sent",
    "",
  ]);
});
