import { describe, expect, test } from "vitest";
import { formatDays, type Schedule } from "./job.ts";
import { describeExpression } from "./expression.ts";
import { job, run } from "./fixtures.ts";
import {
  formatAhead,
  formatAgo,
  formatInterval,
  formatMoment,
  describeNextRun,
  describeResult,
  describeSchedule,
  describeSentence,
  zoneCity,
  formatShortMoment,
  formatTime,
  describeZone,
} from "./texts.ts";

const ZONE = "Europe/Berlin";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Friday, 13:00 in Berlin. */
const NOW = Date.parse("2026-11-20T12:00Z");

test.each([
  [1, "every minute"],
  [15, "every 15 minutes"],
  [60, "every hour"],
  [90, "every 1 h 30 min"],
  [120, "every 2 hours"],
  [1440, "every 24 hours"],
  [10_080, "every 7 days"],
])("an interval of %d minutes is %s", (minutes, text) => {
  expect(formatInterval(minutes)).toBe(text);
});

test.each([
  [[0, 1, 2, 3, 4, 5, 6], "every day"],
  [[5, 4, 3, 2, 1], "every weekday"],
  [[0, 6], "weekends"],
  [[3], "every Wednesday"],
  [[0, 1], "Mon and Sun"],
  [[5, 1, 3], "Mon, Wed and Fri"],
])("days %o are %s", (days, text) => {
  expect(formatDays(days)).toBe(text);
});

describe("expressions", () => {
  test.each([
    ["* * * * *", "every minute"],
    ["*/15 * * * *", "every 15 minutes"],
    ["0 * * * *", "every hour"],
    ["5 */6 * * *", "every 6 hours, 5 min past"],
    ["30 3 * * *", "every day at 03:30"],
    ["0 9 * * 1-5", "every weekday at 09:00"],
    ["0 9 * * MON,3", "Mon and Wed at 09:00"],
    ["0 9 * * 5-7", "Fri, Sat and Sun at 09:00"],
    ["0 9 * * 7", "every Sunday at 09:00"],
    [" 0  6 1 * * ", "the 1st of each month at 06:00"],
    ["0 6 22 * *", "the 22nd of each month at 06:00"],
    ["0 6 13 * *", "the 13th of each month at 06:00"],
  ])("%o is %s", (expression, text) => {
    expect(describeExpression(expression)).toBe(text);
  });

  test.each([
    "",
    "0 9 * *",
    "*/7 * * * *",
    "0 9 * 1 *",
    "0 9 1 * 1",
    "0 9,17 * * *",
    "61 * * * *",
    "0 24 * * *",
    "0 9 * * 1-9",
    "a b c d e",
  ])("%o has no short words", (expression) => expect(describeExpression(expression)).toBeUndefined());
});

describe("moments", () => {
  test("in the zone of the service, with the year where it is another", () => {
    expect(formatMoment(NOW, NOW, ZONE)).toBe("Fri 20 Nov, 13:00");
    expect(formatMoment(NOW + 60 * DAY, NOW, ZONE)).toBe("Tue 19 Jan 2027, 13:00");
    expect(formatMoment(NOW, NOW, "+05:30")).toBe("Fri 20 Nov, 17:30");
  });

  test("within the week the day's name is enough", () => {
    expect(formatShortMoment(NOW + 4 * DAY, NOW, ZONE)).toBe("Tue 13:00");
    expect(formatShortMoment(NOW + 7 * DAY, NOW, ZONE)).toBe("Fri 27 Nov, 13:00");
  });

  test("how far, to the nearest minute", () => {
    expect(formatAhead(NOW + HOUR + 10_000, NOW)).toBe("in 1 h");
    expect(formatAhead(NOW + 2 * DAY + 3 * HOUR, NOW)).toBe("in 2 d 3 h");
    expect(formatAhead(NOW + 1000, NOW)).toBe("in 1 min");
  });

  test.each([
    [5_000, "just now"],
    [-5_000, "just now"],
    [3 * MINUTE, "3 min ago"],
    [5 * HOUR + MINUTE, "5 h ago"],
    [DAY, "1 day ago"],
    [3 * DAY, "3 days ago"],
  ])("%d ms since is %s", (age, text) => {
    expect(formatAgo(NOW - age, NOW)).toBe(text);
  });
});

describe("a job's schedule", () => {
  test.each([
    [{ scheduleType: "once", runAt: NOW + DAY }, "Once, Sat 21 Nov, 13:00"],
    [{ scheduleType: "interval", intervalMinutes: 30 }, "Every 30 minutes"],
    [{ scheduleType: "daily", dailyTime: "03:30" }, "Every day at 03:30"],
    [{ scheduleType: "weekly", weeklyDays: [1, 2, 3, 4, 5], weeklyTime: "09:00" }, "Every weekday at 09:00"],
    [{ scheduleType: "cron", cronExpression: "0 9 * * 1-5" }, "Every weekday at 09:00"],
    [{ scheduleType: "cron", cronExpression: "0 9 1 1 1" }, "Cron"],
  ] as const)("%o", (part, text) => {
    expect(
      describeSchedule(
        job({ ...part, weeklyDays: [...("weeklyDays" in part ? part.weeklyDays : [])] }),
        NOW,
        ZONE,
      ),
    ).toBe(text);
  });

  test("its next fire, or why there is none", () => {
    expect(describeNextRun(job({ nextRunAt: NOW + 3 * HOUR }), NOW, ZONE)).toEqual({
      text: "in 3 h",
      when: "Fri 16:00",
    });
    expect(describeNextRun(job({ nextRunAt: NOW - 1 }), NOW, ZONE).text).toBe("due now");
    expect(describeNextRun(job({ enabled: false }), NOW, ZONE)).toEqual({ text: "Off" });
    expect(describeNextRun(job({ enabled: false, completedOnce: true }), NOW, ZONE).text).toContain(
      "Has run",
    );
    expect(describeNextRun(job(), NOW, ZONE)).toEqual({ text: "No run planned" });
  });
});

describe("a run's result", () => {
  test("with the reason, where there is one", () => {
    expect(describeResult(run({ status: "failed", errorMessage: "no folder" }), NOW)).toEqual({
      tone: "bad",
      word: "failed",
      reason: "no folder",
    });
    expect(describeResult(run(), NOW)).toEqual({ tone: "good", word: "prompt sent" });
  });

  test("is under way only as long as delivery can take", () => {
    const started = run({ status: "session_started", startedAt: NOW, finishedAt: null });
    expect(describeResult(started, NOW + MINUTE).tone).toBe("busy");
    expect(describeResult(started, NOW + 5 * MINUTE)).toEqual({ tone: "warn", word: "prompt not sent" });
    expect(describeResult({ ...started, errorMessage: "closed" }, NOW)).toEqual({
      tone: "warn",
      word: "prompt not sent",
      reason: "closed",
    });
  });
});

describe("a schedule in a sentence", () => {
  const weekdays: Schedule = { scheduleType: "weekly", weeklyDays: [1, 2, 3, 4, 5], weeklyTime: "09:00" };

  test.each<[Schedule, string, string]>([
    [weekdays, "UTC", "Every weekday at 09:00 (Berlin), 08:00 UTC here"],
    [weekdays, "Europe/Paris", "Every weekday at 09:00"],
    [
      { scheduleType: "daily", dailyTime: "03:30" },
      "America/New_York",
      "Every day at 03:30 (Berlin), 21:30 New York here, the day before",
    ],
    [
      { scheduleType: "daily", dailyTime: "23:30" },
      "Asia/Kolkata",
      "Every day at 23:30 (Berlin), 04:00 Kolkata here, the next day",
    ],
    [
      { scheduleType: "cron", cronExpression: "0 9 * * 1-5" },
      "UTC",
      "Every weekday at 09:00 (Berlin), 08:00 UTC here",
    ],
    [{ scheduleType: "cron", cronExpression: "*/15 * * * *" }, "UTC", "Every 15 minutes"],
    [{ scheduleType: "interval", intervalMinutes: 60 }, "UTC", "Every hour"],
    [
      { scheduleType: "once", runAt: NOW },
      "UTC",
      `Once, ${formatMoment(NOW, NOW, ZONE)} (Berlin), ${formatTime(NOW, "UTC")} UTC here`,
    ],
  ])("%o for a reader in %s", (schedule, own, text) => {
    expect(describeSentence(schedule, NOW, ZONE, own)).toBe(text);
  });

  test("zones are called as people call them", () => {
    const zones = ["Europe/Berlin", "America/New_York", "Etc/UTC", "UTC", "+02:00"];
    expect(zones.map((zone) => zoneCity(zone, NOW))).toEqual(["Berlin", "New York", "UTC", "UTC", "UTC+2"]);
  });
});

describe("the zone's note", () => {
  test("says how far this browser's clock is from it", () => {
    expect(describeZone(NOW, ZONE, "America/New_York")).toEqual({
      name: "Europe/Berlin (UTC+1)",
      apart: "6 h ahead of yours",
    });
    expect(describeZone(NOW, ZONE, "Asia/Kolkata").apart).toBe("4 h 30 min behind yours");
  });

  test("says nothing of it where both show the same", () => {
    expect(describeZone(NOW, ZONE, "Europe/Paris").apart).toBeUndefined();
    expect(describeZone(NOW, "UTC", "Etc/UTC")).toEqual({ name: "UTC", apart: undefined });
    expect(describeZone(NOW, "+01:00", ZONE)).toEqual({ name: "UTC+1", apart: undefined });
  });
});
