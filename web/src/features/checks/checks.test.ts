import { describe, expect, test } from "vitest";
import { describeProblem, makeBody, makeDraft } from "./draft.ts";
import { describeFollowUp, formatOutcome, markOf } from "./texts.ts";

describe("a result in a word", () => {
  test.each([
    [{ name: "tests", state: "passed", passed: 1214 }, "tests ✓ 1,214"],
    [{ name: "tests", state: "failed", passed: 3, failed: 2 }, "tests ✗ 2"],
    [{ name: "lint", state: "failed" }, "lint ✗"],
    [{ name: "lint", state: "timed_out" }, "lint ✗"],
    [{ name: "lint", state: "running" }, "lint …"],
    [{ name: "lint", state: "cancelled" }, "lint –"],
  ])("%o is %s", (outcome, text) => expect(formatOutcome(outcome)).toBe(text));

  test("a state of a later service is neither good nor bad", () => expect(markOf("later")).toBe("none"));
});

describe("what follows", () => {
  test.each([
    ["sending", 0, "Sent to the agent (attempt 1)."],
    ["notified", 3, "Given up after 3 attempts."],
    ["notified", 0, ""],
    ["none", 0, ""],
  ])("%s after %i", (followUp, attempt, text) => expect(describeFollowUp({ followUp, attempt })).toBe(text));
});

describe("the form", () => {
  const saved = {
    checks: [{ name: "tests", command: "npm test", timeoutSeconds: 60, paths: ["src/*", "*.json"] }],
    onFailure: "send_back" as const,
    maxAttempts: 2,
  };

  test("sends what was saved", () => expect(makeBody(makeDraft(saved))).toEqual(saved));

  test("sends no attempts where a person is told at once", () => {
    const body = makeBody({ ...makeDraft(saved), onFailure: "notify" });
    expect(body.maxAttempts).toBe(0);
  });

  test.each([
    ["checks.0.timeoutSeconds: must be at least 1", "tests: the time limit must be at least 1"],
    ["checks[0].paths[1]: must be relative", "tests: each pattern must be relative"],
    ["checks: at most 20", "Checks: at most 20"],
  ])("says of %s where it is", (text, said) =>
    expect(describeProblem(new Error(text), makeDraft(saved))).toBe(said),
  );

  test("leaves a time that is no number to the service", () => {
    const draft = makeDraft(saved);
    const body = makeBody({ ...draft, checks: draft.checks.map((each) => ({ ...each, seconds: "1e3" })) });
    expect(body.checks[0]?.timeoutSeconds).toBe(0);
  });
});
