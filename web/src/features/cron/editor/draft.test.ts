import { describe, expect, test } from "vitest";
import { ApiError, createUnreachableError } from "../../../api/errors.ts";
import { bodyOf, changesOf, type Draft, draftOf, newDraft } from "./draft.ts";
import { job } from "../jobs/fixtures.ts";
import { previewBody } from "./preview.ts";
import { validateDraft, parseRefusal, selectShownProblems } from "./problems.ts";

const ZONE = "Europe/Berlin";
const NOW = Date.parse("2026-11-20T12:00Z");

const draft = (part: Partial<Draft> = {}): Draft => ({
  ...newDraft(NOW, ZONE, "primary", "/home/demo"),
  name: "nightly",
  promptText: "go on",
  ...part,
});

const problems = (part: Partial<Draft>) => validateDraft(draft(part), ZONE, NOW);

describe("what is sent", () => {
  test("only the fields of the chosen kinds", () => {
    const body = bodyOf(draft({ scheduleType: "weekly", weeklyDays: [1, 3] }), ZONE);
    expect(body).toMatchObject({
      scheduleType: "weekly",
      weeklyDays: [1, 3],
      weeklyTime: "09:00",
      promptText: "go on",
    });
    for (const other of ["runAt", "intervalMinutes", "dailyTime", "cronExpression", "promptFilePath"])
      expect(body).not.toHaveProperty(other);
  });

  test("a moment of the service's clock, whatever this browser's shows", () => {
    const body = bodyOf(draft({ scheduleType: "once", runAt: "2026-11-24T09:00" }), ZONE);
    expect(body.runAt).toBe(Date.parse("2026-11-24T08:00Z"));
  });

  test("an interval in minutes, whatever its unit", () => {
    expect(bodyOf(draft({ scheduleType: "interval", every: "2", unit: "days" }), ZONE).intervalMinutes).toBe(
      2880,
    );
  });

  test("a command goes with shells only; empty words are none", () => {
    expect(bodyOf(draft({ launchCommand: "psql" }), ZONE).launchCommand).toBeNull();
    expect(bodyOf(draft({ agentType: "shell", launchCommand: " psql " }), ZONE).launchCommand).toBe("psql");
    expect(bodyOf(draft({ notes: "  " }), ZONE).notes).toBeNull();
  });

  test("a saved job comes back as it was", () => {
    const saved = job({ scheduleType: "interval", intervalMinutes: 180, notes: "why" });
    const { every, unit } = draftOf(saved, NOW, ZONE);
    expect([every, unit]).toEqual(["3", "hours"]);
    expect(bodyOf(draftOf(saved, NOW, ZONE), ZONE)).toMatchObject({
      intervalMinutes: 180,
      notes: "why",
      name: "nightly",
    });
  });

  test("a change sends what was touched: a moment keeps its seconds", () => {
    const before = draftOf(job({ scheduleType: "once", runAt: NOW + 12_345 }), NOW, ZONE);
    expect(changesOf(before, { ...before, notes: "new" }, ZONE)).toEqual({ notes: "new" });
    expect(changesOf(before, before, ZONE)).toEqual({});
  });

  test("a change of kind brings all that the new kind needs", () => {
    const before = draftOf(job(), NOW, ZONE);
    const weekly = changesOf(before, { ...before, scheduleType: "weekly" }, ZONE);
    expect(weekly).toEqual({ scheduleType: "weekly", weeklyDays: [1], weeklyTime: "09:00" });
    const file = changesOf(
      before,
      { ...before, promptMode: "prompt_file_path", promptFilePath: "/a/b" },
      ZONE,
    );
    expect(file).toEqual({ promptMode: "prompt_file_path", promptFilePath: "/a/b" });
  });

  test("a prompt of several lines is sent as it is", () => {
    expect(bodyOf({ ...draftOf(job(), 0, ZONE), promptText: "first\n\n  second" }, ZONE).promptText).toBe(
      "first\n\n  second",
    );
  });
});

describe("what is wrong", () => {
  test("nothing with a whole draft", () => expect(problems({})).toEqual({}));

  test.each<[Partial<Draft>, string]>([
    [{ name: " " }, "name"],
    [{ name: "x".repeat(201) }, "name"],
    [{ agentType: "" }, "agentType"],
    [{ workingDir: "" }, "workingDir"],
    [{ workingDir: "work" }, "workingDir"],
    [{ launchCommand: "x".repeat(2001) }, "launchCommand"],
    [{ notes: "x".repeat(2001) }, "notes"],
    [{ promptText: "  " }, "promptText"],
    [{ promptText: "x".repeat(100_001) }, "promptText"],
    [{ promptMode: "prompt_file_path" }, "promptFilePath"],
    [{ promptMode: "prompt_file_path", promptFilePath: "a.md" }, "promptFilePath"],
    [{ promptMode: "prompt_file_path", promptFilePath: "/home/demo2/a.md" }, "promptFilePath"],
    [{ scheduleType: "once", runAt: "" }, "runAt"],
    [{ scheduleType: "once", runAt: "2026-11-20T12:59" }, "runAt"],
    [{ scheduleType: "interval", every: "" }, "intervalMinutes"],
    [{ scheduleType: "interval", every: "0.5", unit: "minutes" }, "intervalMinutes"],
    [{ scheduleType: "interval", every: "366", unit: "days" }, "intervalMinutes"],
    [{ dailyTime: "24:00" }, "dailyTime"],
    [{ scheduleType: "weekly", weeklyDays: [] }, "weeklyDays"],
    [{ scheduleType: "weekly", weeklyTime: "" }, "weeklyTime"],
    [{ scheduleType: "cron", cronExpression: "0 9 * *" }, "cronExpression"],
  ])("%o at %s alone", (part, field) => {
    expect(Object.keys(problems(part))).toEqual([field]);
  });

  test.each<Partial<Draft>>([
    { scheduleType: "interval", every: "0.5", unit: "hours" },
    { scheduleType: "interval", every: "365", unit: "days" },
    { scheduleType: "once", runAt: "2026-11-20T13:01" },
    { promptMode: "prompt_file_path", promptText: "", promptFilePath: "/home/demo/a.md" },
  ])("nothing with %o", (part) => expect(problems(part)).toEqual({}));

  test("a job that has run keeps its moment", () => {
    const saved = draft({ scheduleType: "once", runAt: "2026-11-01T09:00", enabled: false });
    expect(validateDraft({ ...saved, notes: "done" }, ZONE, NOW, saved)).toEqual({});
    expect(validateDraft({ ...saved, enabled: true }, ZONE, NOW, saved)).toHaveProperty("runAt");
    expect(validateDraft({ ...saved, runAt: "2026-11-02T09:00" }, ZONE, NOW, saved)).toHaveProperty("runAt");
  });
});

describe("a refusal", () => {
  test.each([
    ["cronExpression: must have 5 fields", { field: "cronExpression", text: "Must have 5 fields." }],
    ["weeklyDays.1: must be at most 6", { field: "weeklyDays", text: "Must be at most 6." }],
    ["schedule: unknown", { field: undefined, text: "schedule: unknown" }],
  ])("%s", (text, expected) => {
    expect(parseRefusal(new ApiError(400, "INVALID_INPUT", text))).toEqual(expected);
  });

  test("of another kind is about no field", () => {
    expect(parseRefusal(new ApiError(403, "FORBIDDEN", "name: not yours")).field).toBeUndefined();
    expect(parseRefusal(createUnreachableError()).field).toBeUndefined();
  });
});

describe("what shows", () => {
  const all = { name: "Required", promptText: "Required" };

  test("an untouched field is not wrong until the draft is sent", () => {
    expect(selectShownProblems(all, new Set(["name"]), false, [])).toEqual({ name: all.name });
    expect(selectShownProblems(all, new Set(), true, [])).toEqual(all);
  });

  test("the service's word, unless the page knows better", () => {
    const told = [
      { field: "name", text: "Taken." } as const,
      { field: "workingDir", text: "Missing." } as const,
      undefined,
    ];
    expect(selectShownProblems(all, new Set(["name"]), false, told)).toEqual({
      name: all.name,
      workingDir: "Missing.",
    });
  });
});

describe("the preview", () => {
  test("is asked for before the rest is written, without the prompt and the notes", () => {
    const body = previewBody(draft({ name: "", promptText: "", notes: "secret", enabled: false }), ZONE, NOW);
    expect(body).toMatchObject({ dailyTime: "09:00", enabled: true, promptText: "-", notes: null });
  });

  test("is the same question whatever the prompt is", () => {
    const one = previewBody(draft({ promptText: "one", name: "one" }), ZONE, NOW);
    expect(previewBody(draft({ promptMode: "prompt_file_path", name: "two" }), ZONE, NOW)).toEqual(one);
  });

  test.each<Partial<Draft>>([{ dailyTime: "" }, { agentType: "" }])("waits for %o", (part) => {
    expect(previewBody(draft(part), ZONE, NOW)).toBeUndefined();
  });

  test.each(["", "relative"])("does not wait for a folder: %o", (workingDir) => {
    expect(previewBody(draft({ workingDir }), ZONE, NOW)).toMatchObject({ workingDir: null });
  });
});
