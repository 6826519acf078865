/** When the mock's jobs fire: days are walked one by one, hours and minutes are looked up. */
import type { Schedule } from "../src/features/cron/jobs/job.ts";
import { fromField, toField } from "../src/lib/zonetime.ts";
import { Refused } from "./refused.ts";

const DAY_MS = 86_400_000;
const DAYS = 800;

type Field = ReadonlySet<number>;

function wrong(rule: string): Refused {
  return new Refused(400, "INVALID_INPUT", `cronExpression: ${rule}`);
}

function part(text: string, least: number, most: number): number[] {
  const found = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(text);
  if (!found) throw wrong(`must hold numbers, * , - and / only`);
  const from = found[1] === undefined ? least : Number(found[1]);
  const to = found[2] === undefined ? (found[1] === undefined || found[3] ? most : from) : Number(found[2]);
  if (from < least || to > most || from > to) throw wrong(`${text} is out of range`);
  const step = Number(found[3] ?? 1);
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step);
}

const field = (text: string, least: number, most: number): Field =>
  new Set(text.split(",").flatMap((each) => part(each, least, most)));

interface Times {
  days: (date: Date) => boolean;
  clocks: string[];
}

const two = (value: number): string => String(value).padStart(2, "0");

function timesOfExpression(expression: string): Times {
  const [minute, hour, day, month, weekday, ...more] = expression.split(/\s+/);
  if (!minute || !hour || !day || !month || !weekday || more.length > 0)
    throw wrong("must have 5 fields: minute hour day month weekday");
  const [days, months] = [field(day, 1, 31), field(month, 1, 12)];
  const week = new Set([...field(weekday, 0, 7)].map((each) => each % 7));
  const minutes = [...field(minute, 0, 59)];
  // A field of the day that begins with * leaves the choice to the other one.
  const both = day.startsWith("*") || weekday.startsWith("*");
  const matches = (date: Date): boolean => {
    const found = [days.has(date.getUTCDate()), week.has(date.getUTCDay())];
    return both ? found.every(Boolean) : found.some(Boolean);
  };
  return {
    clocks: [...field(hour, 0, 23)].flatMap((h) => minutes.map((m) => `${two(h)}:${two(m)}`)),
    days: (date) => months.has(date.getUTCMonth() + 1) && matches(date),
  };
}

function timesOf(schedule: Schedule): Times {
  if (schedule.scheduleType === "cron") return timesOfExpression(schedule.cronExpression ?? "");
  if (schedule.scheduleType === "daily") return { days: () => true, clocks: [schedule.dailyTime ?? "00:00"] };
  const wanted = new Set(schedule.weeklyDays ?? []);
  return { days: (date) => wanted.has(date.getUTCDay()), clocks: [schedule.weeklyTime ?? "00:00"] };
}

/** The next `count` fires after `now`; fewer where there are no more. */
export function fires(schedule: Schedule, now: number, zone: string, count: number): number[] {
  if (schedule.scheduleType === "once") return (schedule.runAt ?? 0) > now ? [schedule.runAt ?? 0] : [];
  if (schedule.scheduleType === "interval") {
    const step = (schedule.intervalMinutes ?? 1) * 60_000;
    return Array.from({ length: count }, (_, n) => now + (n + 1) * step);
  }
  const { days, clocks } = timesOf(schedule);
  const today = Date.parse(`${toField(now, zone).slice(0, 10)}T00:00Z`);
  const found: number[] = [];
  for (let n = 0; n < DAYS && found.length < count; n++) {
    const date = new Date(today + n * DAY_MS);
    if (!days(date)) continue;
    const moments = clocks.map(
      (clock) => fromField(`${date.toISOString().slice(0, 10)}T${clock}`, zone) ?? 0,
    );
    found.push(...moments.filter((at) => at > now).toSorted((a, b) => a - b));
  }
  return found.slice(0, count);
}
