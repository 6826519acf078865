import { expect, test } from "vitest";
import type { AwaySessionResponse } from "../../api/types.ts";
import { describeAway, sumAway } from "./AwayBlock.tsx";

const ONE: AwaySessionResponse = {
  id: "a",
  name: "api",
  since: 0,
  turns: 2,
  files: 1,
  commits: 0,
  answered: 0,
  byRule: 0,
  cost: 0.5,
  isBusy: false,
};

test("only what happened is said", () => {
  expect(describeAway(ONE)).toBe("2 turns · 1 file · $0.50");
  expect(describeAway({ ...ONE, files: 0, cost: 0.001 })).toBe("2 turns");
});

test("answers of rules and the state of the checks are said", () => {
  const told = { ...ONE, files: 0, cost: 0, checks: "red", answered: 3, byRule: 2 };
  expect(describeAway(told)).toBe("2 turns · checks red · 3 answers, 2 by rules");
  expect(describeAway({ ...told, checks: "cancelled" })).toContain("checks without a result");
});

test("sessions are added up", () => {
  expect(sumAway([ONE, { ...ONE, commits: 3 }])).toBe("4 turns · 2 files · 3 commits · $1.00");
});
