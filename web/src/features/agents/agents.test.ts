import { describe, expect, test } from "vitest";
import { SESSION } from "../../api/sample.ts";
import type { Session } from "../../api/types.ts";
import { describeLimit } from "./limits.ts";
import { listPlanChips, levelOf, merge, readPlan } from "./plan.ts";
import { asksAtStart, describeConflict, describeStatus, formatTooltip } from "./statusdescription.ts";
import { summarizeTodos } from "./todos.ts";
import { telemetryChange } from "./state.ts";
import { formatClockTime, formatTimeUntil } from "./times.ts";

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 0, 5, 12, 0);

const session = (part: Partial<Session> = {}): Session => ({
  ...SESSION,
  mode: "primary",
  ...part,
});

describe("plan usage", () => {
  test.each([
    [0, "calm"],
    [79.9, "calm"],
    [80, "amber"],
    [94.9, "amber"],
    [95, "red"],
    [100, "red"],
  ])("%d%% is %s (protocol-telemetry)", (used, level) => expect(levelOf(used)).toBe(level));

  test("a figure is never rounded up into a level that it has not reached", () => {
    const [chip] = listPlanChips({ fiveHour: { usedPercentage: 79.9 } }, NOON);
    expect(chip).toMatchObject({ id: "5h", percent: 79, level: "calm" });
  });

  test("both windows, five hours first", () => {
    const plan = readPlan({
      sevenDay: { usedPercentage: 96, resetAt: NOON + 1 },
      fiveHour: { usedPercentage: 1 },
    });
    expect(listPlanChips(plan, NOON).map((chip) => [chip.id, chip.level])).toEqual([
      ["5h", "calm"],
      ["7d", "red"],
    ]);
  });

  test("a window whose reset has passed says nothing", () => {
    expect(listPlanChips({ fiveHour: { usedPercentage: 99, resetAt: NOON } }, NOON)).toEqual([]);
  });

  test("a report leaves alone what it does not name", () => {
    const before = readPlan({ fiveHour: { usedPercentage: 10 }, sevenDay: { usedPercentage: 20 } });
    expect(merge(before, { fiveHour: { usedPercentage: 11, resetAt: 5 } })).toEqual({
      fiveHour: { usedPercentage: 11, resetAt: 5 },
      sevenDay: { usedPercentage: 20 },
    });
  });

  test.each([undefined, null, 5, "x", {}, { fiveHour: null }, { fiveHour: { usedPercentage: null } }])(
    "%o tells of no window",
    (value) => expect(readPlan(value)).toEqual({}),
  );

  test("percentages stay within their range", () => {
    expect(readPlan({ fiveHour: { usedPercentage: 120 } }).fiveHour?.usedPercentage).toBe(100);
    expect(readPlan({ fiveHour: { usedPercentage: -1 } }).fiveHour?.usedPercentage).toBe(0);
  });
});

describe("telemetry", () => {
  test("a session's figures", () => {
    const data = { sessionId: "s", contextUsedPercentage: 41.5, costUsd: 1.25, modelDisplayName: "Large" };
    expect(telemetryChange(data)).toEqual({
      contextUsedPercentage: 41.5,
      totalCost: 1.25,
      displayModel: "Large",
    });
  });

  test.each([null, undefined, {}, { contextUsedPercentage: null, costUsd: "1", modelDisplayName: 5 }])(
    "%o changes nothing",
    (data) => expect(telemetryChange(data)).toEqual({}),
  );
});

describe("times", () => {
  test.each([
    [-5 * MINUTE, "1 min"],
    [1, "1 min"],
    [59 * MINUTE, "59 min"],
    [60 * MINUTE, "1 h"],
    [105 * MINUTE, "1 h 45 min"],
    [24 * 60 * MINUTE, "1 d"],
    [(4 * 24 + 3) * 60 * MINUTE, "4 d 3 h"],
  ])("in %d ms", (ahead, text) => expect(formatTimeUntil(NOON + ahead, NOON)).toBe(text));

  test("the day is named where it is another one", () => {
    expect(formatClockTime(NOON + 60 * MINUTE, NOON, "en-GB", "UTC")).toBe("13:00");
    expect(formatClockTime(NOON + 24 * 60 * MINUTE, NOON, "en-GB", "UTC")).toBe("Tue 12:00");
  });
});

describe("limit", () => {
  test("no pause, no word", () => expect(describeLimit(session(), NOON)).toBeUndefined());

  test("with a time to go on", () => {
    const paused = session({
      limitPaused: true,
      autoResume: { enabled: true, resumeAt: NOON + 42 * MINUTE },
    });
    const notice = describeLimit(paused, NOON);
    expect(notice?.text).toContain("in 42 min");
    expect(notice?.button).toBe("Cancel auto-continue");
  });

  test("due now, and with no time known", () => {
    const due = session({ limitPaused: true, autoResume: { enabled: true, resumeAt: NOON } });
    expect(describeLimit(due, NOON)?.text).toContain("in a moment");
    const open = session({ limitPaused: true, autoResume: { enabled: true } });
    expect(describeLimit(open, NOON)?.text).toContain("when the limit resets");
  });

  test.each([undefined, { enabled: false }, { enabled: false, resumeAt: NOON + 1 }])(
    "waits for the person with %o",
    (autoResume) => {
      const notice = describeLimit(session({ limitPaused: true, ...(autoResume && { autoResume }) }), NOON);
      expect(notice).toEqual({
        text: "Usage limit reached. The agent has stopped.",
        button: "Continue after reset",
      });
    },
  );
});

describe("standing", () => {
  const item = {
    id: "s:1",
    sessionId: "s",
    sessionName: "one",
    kind: "permission",
    createdAt: 0,
    frame: "f",
    toolName: "Bash",
  } as const;

  test("what it waits for comes before what set the status", () => {
    const now = describeStatus(session({ statusReason: "prompt on the screen" }), true, item);
    expect(formatTooltip(now)).toBe("needs you: wants to run a command");
  });

  test.each([
    ["primary", undefined, "ready"],
    ["primary", { ...item, kind: "idle" } as const, "done"],
    ["shell", undefined, "ready"],
  ])("a session of mode %s that rests says one word", (mode, waiting, word) => {
    expect(formatTooltip(describeStatus(session({ mode }), waiting !== undefined, waiting))).toBe(word);
  });

  test.each([
    ["working line: ✶ Combobulating… (3s · esc to interrupt)", "Combobulating… (3s · esc to interrupt)"],
    ["title: ⠐ Mend the tests", "Mend the tests"],
    ["title: ✳", undefined],
    ["composer on the screen, no working line", undefined],
    ["prompt_submitted hook", undefined],
    [undefined, undefined],
  ])("of the evidence %s only the program's words are for people", (statusReason, said) => {
    const busy = session({ status: "busy", ...(statusReason && { statusReason }) });
    expect(describeStatus(busy, false).reason).toBe(said);
    expect(formatTooltip(describeStatus(session({ ...(statusReason && { statusReason }) }), false))).toBe(
      "ready",
    );
  });

  test.each([
    ["codex", "trust dialog: Trust this folder?", true],
    ["primary", "trust dialog: Quick safety check", false],
    ["primary", "api-key dialog: Detected a custom API key", true],
    ["codex", "permission dialog: Would you like to run it?", false],
    ["codex", "composer on the screen", false],
    ["codex", undefined, false],
  ])("a program of mode %s with the evidence %s waits for a person: %o", (mode, statusReason, waits) => {
    const starting = session({ mode, ...(statusReason && { statusReason }) });
    expect(asksAtStart(starting)).toBe(waits);
    expect(asksAtStart({ ...starting, pid: null })).toBe(false);
  });

  test("a task of its list says more than its spinner, while it works", () => {
    const task = { currentTask: "Mending the tests", statusReason: "title: ⠐ Thinking" };
    expect(describeStatus(session({ status: "busy", ...task }), false).reason).toBe("Mending the tests");
    expect(describeStatus(session(task), false).reason).toBeUndefined();
  });

  test("a report that differs from the screen is told", () => {
    const statusConflict = "status file: busy, screen: idle";
    expect(describeConflict(session({ statusConflict }))).toBe(`The state is not certain. ${statusConflict}`);
    expect(describeConflict(session({}))).toBeUndefined();
  });

  test("how far a list is", () => {
    const todo = (text: string, status: "pending" | "in_progress" | "completed", doing?: string) => ({
      text,
      status,
      ...(doing && { doing }),
    });
    const list = [todo("read", "completed"), todo("mend", "in_progress", "mending"), todo("test", "pending")];
    expect(summarizeTodos(list)).toBe("1 of 3 to-dos done. Now: mending. Next: test.");
    expect(summarizeTodos(list.slice(0, 1))).toBe("1 of 1 to-dos done.");
  });

  test("what a program asks at its start is said in its own words", () => {
    const now = describeStatus(
      session({ mode: "codex", statusReason: "trust dialog: Trust this folder?" }),
      true,
    );
    expect(formatTooltip(now)).toBe("needs you: Trust this folder?");
  });

  test("a session without a process is not said to wait", () => {
    expect(describeStatus(session({ pid: null, statusReason: "killed" }), true, item)).toMatchObject({
      state: "ended",
      reason: undefined,
    });
  });
});
