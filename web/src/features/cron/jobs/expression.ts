/** Cron expressions in words, as far as there are short ones. */
import { clock, formatDays } from "./job.ts";

const PRESETS: readonly [string, string][] = [
  ["*/15 * * * *", "every 15 minutes"],
  ["0 * * * *", "every hour"],
  ["0 9 * * 1-5", "weekdays at 09:00"],
  ["0 6 1 * *", "the first of each month"],
];

/** Expressions to start from, with what they mean. */
export const examples = PRESETS;

const DAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

export const fieldsOf = (expression: string): string[] => {
  const trimmed = expression.trim();
  return trimmed === "" ? [] : trimmed.split(/\s+/);
};

function numberOf(text: string, most: number): number | undefined {
  const value = Number(text);
  return /^\d{1,2}$/.test(text) && value <= most ? value : undefined;
}

function weekday(text: string): number | undefined {
  const named = DAY_NAMES.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  const value = numberOf(text, 7);
  return value === undefined ? undefined : value % 7;
}

/** `1-5` as its days; undefined where a part is more than a day or a span of days. */
function span(part: string): number[] | undefined {
  const [from, to, ...more] = part.split("-").map(weekday);
  if (from === undefined || more.length > 0) return undefined;
  if (!part.includes("-")) return [from];
  if (to === undefined) return undefined;
  const length = ((to - from + 7) % 7) + 1;
  return Array.from({ length }, (_, step) => (from + step) % 7);
}

function weekdays(field: string): number[] | undefined {
  const parts = field.split(",").map(span);
  return parts.includes(undefined) ? undefined : [...new Set(parts.flatMap((part) => part ?? []))];
}

function ordinal(n: number): string {
  const ending = n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${ending}`;
}

/** The step of `*\/n` where it divides the whole evenly: only then is it the same all through. */
function evenStep(field: string, whole: number): number | undefined {
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1]);
  return step > 1 && whole % step === 0 ? step : undefined;
}

function repeated(minute: string, hour: string): string | undefined {
  const minutes = evenStep(minute, 60);
  if (hour === "*" && minute === "*") return "every minute";
  if (hour === "*" && minutes) return `every ${minutes} minutes`;
  const at = numberOf(minute, 59);
  if (at === undefined) return undefined;
  const past = at === 0 ? "" : `, ${at} min past`;
  if (hour === "*") return `every hour${past}`;
  const hours = evenStep(hour, 24);
  return hours === undefined ? undefined : `every ${hours} hours${past}`;
}

function onDays(time: string, day: string, dow: string): string | undefined {
  if (day === "*" && dow === "*") return `every day at ${time}`;
  if (day === "*") {
    const days = weekdays(dow);
    return days && `${formatDays(days)} at ${time}`;
  }
  const date = numberOf(day, 31);
  return dow === "*" && date ? `the ${ordinal(date)} of each month at ${time}` : undefined;
}

/** The time of day at which an expression fires, `HH:MM`; undefined where it has none or several. */
export function timeOfDay(expression: string): string | undefined {
  const [minute = "", hour = ""] = fieldsOf(expression);
  const at = [numberOf(hour, 23), numberOf(minute, 59)];
  return at[0] === undefined || at[1] === undefined ? undefined : clock(at[0], at[1]);
}

/** @returns undefined for all but the common forms: a wrong word is worse than the expression. */
export function describeExpression(expression: string): string | undefined {
  const fields = fieldsOf(expression);
  const [minute = "", hour = "", day = "", month, dow = ""] = fields;
  if (fields.length !== 5 || month !== "*") return undefined;
  if (day === "*" && dow === "*") {
    const text = repeated(minute, hour);
    if (text) return text;
  }
  const time = timeOfDay(expression);
  return time && onDays(time, day, dow);
}
