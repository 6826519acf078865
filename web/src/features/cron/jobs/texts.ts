/** Jobs, moments and runs in words. */
import { formatTimeUntil } from "../../agents/times.ts";
import { plural } from "../../../lib/format.ts";
import { browserZone } from "../../../lib/zone.ts";
import { fromField, offsetAt, offsetText, toField } from "../../../lib/zonetime.ts";
import { formatDays, type JobResponse, type RunResponse, type RunStatus, type Schedule } from "./job.ts";
import { describeExpression, timeOfDay } from "./expression.ts";
import { describeTime, keepsGoing, lastLine } from "./keepgoing.ts";

type KeepGoing = NonNullable<RunResponse["keepGoing"]>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function formatInterval(minutes: number): string {
  if (minutes % 1440 === 0) return minutes === 1440 ? "every 24 hours" : `every ${minutes / 1440} days`;
  if (minutes % 60 === 0) return minutes === 60 ? "every hour" : `every ${minutes / 60} hours`;
  if (minutes < 60) return minutes === 1 ? "every minute" : `every ${minutes} minutes`;
  return `every ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `Tue 24 Nov, 09:00` in the zone; with the year where it is another one. */
export function formatMoment(at: number, now: number, zone: string): string {
  const year = (time: number) =>
    new Date(time).toLocaleDateString("en-GB", { timeZone: zone, year: "numeric" });
  const date = new Date(at).toLocaleDateString("en-GB", {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "short",
    ...(year(at) !== year(now) && { year: "numeric" }),
  });
  return `${date.replace(/^(\w+),/, "$1")}, ${formatTime(at, zone)}`;
}

export const formatTime = (at: number, zone: string): string =>
  new Date(at).toLocaleTimeString("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });

/** `Tue 09:00` within the week, else with the date. */
export function formatShortMoment(at: number, now: number, zone: string): string {
  if (Math.abs(at - now) > 6 * DAY_MS) return formatMoment(at, now, zone);
  const day = new Date(at).toLocaleDateString("en-GB", { timeZone: zone, weekday: "short" });
  return `${day} ${formatTime(at, zone)}`;
}

export function describeSchedule(job: Schedule, now: number, zone: string): string {
  switch (job.scheduleType) {
    case "once":
      return job.runAt ? `Once, ${formatMoment(job.runAt, now, zone)}` : "Once";
    case "interval":
      return upper(formatInterval(job.intervalMinutes ?? 0));
    case "daily":
      return `Every day at ${job.dailyTime ?? ""}`;
    case "weekly":
      return upper(`${formatDays(job.weeklyDays ?? [])} at ${job.weeklyTime ?? ""}`);
    case "cron":
      return upper(describeExpression(job.cronExpression ?? "") ?? "cron");
  }
}

/** `Berlin`, `UTC`, `UTC+2`: a zone as people call it. */
export function zoneCity(zone: string, at: number): string {
  if (/^[+-]/.test(zone) || /^(Etc\/)?(UTC|GMT)/.test(zone)) return offsetText(offsetAt(at, zone));
  return zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ");
}

function timeOfSchedule(job: Schedule): string | undefined {
  if (job.scheduleType === "daily") return job.dailyTime ?? undefined;
  if (job.scheduleType === "weekly") return job.weeklyTime ?? undefined;
  return job.scheduleType === "cron" ? timeOfDay(job.cronExpression ?? "") : undefined;
}

/** A moment at which a schedule with a time of day fires, today; of `once` its own. */
function momentOf(job: Schedule, now: number, zone: string): number | undefined {
  if (job.scheduleType === "once") return job.runAt ?? undefined;
  const time = timeOfSchedule(job);
  return time === undefined ? undefined : fromField(`${toField(now, zone).slice(0, 10)}T${time}`, zone);
}

const DAY_SHIFTS = new Map([
  [-1, ", the day before"],
  [1, ", the next day"],
]);

/** `08:00 UTC here`: a moment on the reader's clock, with the day where it is another one there. */
export function formatOwnTime(at: number, zone: string, own: string): string {
  const day = (in_: string) => Date.parse(toField(at, in_).slice(0, 10));
  const shift = DAY_SHIFTS.get(Math.round((day(own) - day(zone)) / DAY_MS)) ?? "";
  return `${formatTime(at, own)} ${zoneCity(own, at)} here${shift}`;
}

/** `Every weekday at 09:00 (Berlin), 08:00 UTC here`; without zones where both clocks agree. */
export function describeSentence(job: Schedule, now: number, zone: string, own = browserZone()): string {
  const words = describeSchedule(job, now, zone);
  const at = momentOf(job, now, zone);
  if (at === undefined || offsetAt(at, zone) === offsetAt(at, own)) return words;
  return `${words} (${zoneCity(zone, at)}), ${formatOwnTime(at, zone, own)}`;
}

/** What comes next; `when` is the moment itself, where there is one. */
export interface Next {
  text: string;
  when?: string;
}

export function describeNextRun(job: JobResponse, now: number, zone: string): Next {
  if (job.completedOnce) return { text: "Has run and won't run again" };
  if (!job.enabled) return { text: "Off" };
  if (job.nextRunAt === null) return { text: "No run planned" };
  const when = formatShortMoment(job.nextRunAt, now, zone);
  return { text: job.nextRunAt <= now ? "due now" : formatAhead(job.nextRunAt, now), when };
}

/** How far ahead, to the nearest minute: `in 3 h`, also where a clock has ticked in between. */
export const formatAhead = (at: number, now: number): string =>
  `in ${formatTimeUntil(at, now + MINUTE_MS / 2)}`;

/** How long ago, in one unit. */
export function formatAgo(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE_MS) return "just now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`;
  return `${plural(Math.floor(age / DAY_MS), "day")} ago`;
}

export type Tone = "good" | "bad" | "busy" | "warn" | "plain";

export interface Result {
  tone: Tone;
  word: string;
  reason?: string;
}

/** The longest that delivery takes: readiness 60 s and the typing (protocol-cron). */
const DELIVERY_MS = 2 * MINUTE_MS;

const RESULTS: Record<RunStatus, [Tone, string]> = {
  created: ["busy", "starting"],
  session_started: ["busy", "waiting to send the prompt"],
  prompt_sent: ["good", "prompt sent"],
  failed: ["bad", "failed"],
  skipped: ["plain", "skipped"],
};

const ENDS: Record<Exclude<KeepGoing["state"], "running">, [Tone, string]> = {
  completed: ["good", "time is up"],
  stopped: ["plain", "stopped"],
  failed: ["bad", "failed"],
};

function describeKeepGoing(going: KeepGoing, now: number): Result {
  const turns = plural(going.turns, "turn");
  if (going.state === "running") return { tone: "busy", word: `${describeTime(going, now)}, ${turns}` };
  const [tone, word] = ENDS[going.state];
  return { tone, word: `${word}, ${turns}` };
}

/** A run whose session or service ended before delivery stays as it is: it is not under way. */
export function describeResult(run: RunResponse, now: number): Result {
  const [tone, word] = RESULTS[run.status] ?? ["plain", run.status];
  const reason = run.errorMessage ? { reason: run.errorMessage } : {};
  const going = run.keepGoing;
  if (going && (going.lines > 0 || !keepsGoing(run))) return { ...describeKeepGoing(going, now), ...reason };
  if (going) return { tone, word, reason: lastLine(going) };
  const waits = tone === "busy" && run.finishedAt === null;
  if (waits && (run.errorMessage || now - run.startedAt > DELIVERY_MS))
    return { tone: "warn", word: "prompt not sent", ...reason };
  return { tone, word, ...reason };
}

/** The service's zone, and how far this browser's clock is from it. */
export interface ZoneNote {
  name: string;
  /** Undefined where both clocks show the same. */
  apart: string | undefined;
}

export function describeZone(now: number, zone: string, own = browserZone()): ZoneNote {
  const offset = offsetAt(now, zone);
  const ahead = offset - offsetAt(now, own);
  const name =
    /^[+-]/.test(zone) || /^(Etc\/)?UTC$/.test(zone) ? offsetText(offset) : `${zone} (${offsetText(offset)})`;
  if (ahead === 0) return { name, apart: undefined };
  const hours = Math.floor(Math.abs(ahead) / HOUR_MS);
  const minutes = Math.round((Math.abs(ahead) % HOUR_MS) / MINUTE_MS);
  const much = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`].filter(Boolean).join(" ");
  return { name, apart: `${much} ${ahead > 0 ? "ahead of" : "behind"} yours` };
}
