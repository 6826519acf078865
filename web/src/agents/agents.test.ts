import { describe, expect, test } from "vitest";
import { SESSION } from "../api/sample.ts";
import type { Session } from "../api/types.ts";
import { limitNotice } from "./limits.ts";
import { chipsOf, levelOf, merge, readPlan } from "./plan.ts";
import { asksAtStart, hintOf, standingOf } from "./reason.ts";
import { todosText } from "./todos.ts";
import { telemetryChange } from "./state.ts";
import { clockText, untilText } from "./times.ts";

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
    const [chip] = chipsOf({ fiveHour: { usedPercentage: 79.9 } }, NOON);
    expect(chip).toMatchObject({ id: "5h", percent: 79, level: "calm" });
  });

  test("both windows, five hours first", () => {
    const plan = readPlan({
      sevenDay: { usedPercentage: 96, resetAt: NOON + 1 },
      fiveHour: { usedPercentage: 1 },
    });
    expect(chipsOf(plan, NOON).map((chip) => [chip.id, chip.level])).toEqual([
      ["5h", "calm"],
      ["7d", "red"],
    ]);
  });

  test("a window whose reset has passed says nothing", () => {
    expect(chipsOf({ fiveHour: { usedPercentage: 99, resetAt: NOON } }, NOON)).toEqual([]);
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
  ])("in %d ms", (ahead, text) => expect(untilText(NOON + ahead, NOON)).toBe(text));

  test("the day is named where it is another one", () => {
    expect(clockText(NOON + 60 * MINUTE, NOON, "en-GB", "UTC")).toBe("13:00");
    expect(clockText(NOON + 24 * 60 * MINUTE, NOON, "en-GB", "UTC")).toBe("Tue 12:00");
  });
});

describe("limit", () => {
  test("no pause, no word", () => expect(limitNotice(session(), NOON)).toBeUndefined());

  test("with a time to go on", () => {
    const paused = session({
      limitPaused: true,
      autoResume: { enabled: true, resumeAt: NOON + 42 * MINUTE },
    });
    const notice = limitNotice(paused, NOON);
    expect(notice?.text).toContain("in 42 min");
    expect(notice?.button).toBe("Do not continue");
  });

  test("due now, and with no time known", () => {
    const due = session({ limitPaused: true, autoResume: { enabled: true, resumeAt: NOON } });
    expect(limitNotice(due, NOON)?.text).toContain("in a moment");
    const open = session({ limitPaused: true, autoResume: { enabled: true } });
    expect(limitNotice(open, NOON)?.text).toContain("when the limit ends");
  });

  test.each([undefined, { enabled: false }, { enabled: false, resumeAt: NOON + 1 }])(
    "waits for the person with %o",
    (autoResume) => {
      const notice = limitNotice(session({ limitPaused: true, ...(autoResume && { autoResume }) }), NOON);
      expect(notice).toEqual({
        text: "A usage limit is reached. It waits for you.",
        button: "Continue when it ends",
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
    const now = standingOf(session({ statusReason: "prompt on the screen" }), true, item);
    expect(hintOf(now)).toBe("waits for you: wants to use Bash");
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
    expect(standingOf(busy, false).reason).toBe(said);
    expect(hintOf(standingOf(session({ ...(statusReason && { statusReason }) }), false))).toBe("idle");
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
    expect(standingOf(session({ status: "busy", ...task }), false).reason).toBe("Mending the tests");
    expect(standingOf(session(task), false).reason).toBeUndefined();
  });

  test("how far a list is", () => {
    const todo = (text: string, status: "pending" | "in_progress" | "completed", doing?: string) => ({
      text,
      status,
      ...(doing && { doing }),
    });
    const list = [todo("read", "completed"), todo("mend", "in_progress", "mending"), todo("test", "pending")];
    expect(todosText(list)).toBe("1 of 3 to-dos done. Now: mending. Next: test.");
    expect(todosText(list.slice(0, 1))).toBe("1 of 1 to-dos done.");
  });

  test("what a program asks at its start is said in its own words", () => {
    const now = standingOf(
      session({ mode: "codex", statusReason: "trust dialog: Trust this folder?" }),
      true,
    );
    expect(hintOf(now)).toBe("waits for you: Trust this folder?");
  });

  test("a session without a process is not said to wait", () => {
    expect(standingOf(session({ pid: null, statusReason: "killed" }), true, item)).toMatchObject({
      look: "ended",
      reason: undefined,
    });
  });
});
