/** Moments behind and ahead, as people say them. */

const MINUTE_MS = 60_000;
const STEPS: [limit: number, size: number, unit: string][] = [
  [60, 1, "min"],
  [24 * 60, 60, "h"],
  [60 * 24 * 60, 24 * 60, "d"],
  [2 * 365 * 24 * 60, 30 * 24 * 60, "months"],
  [Infinity, 365 * 24 * 60, "years"],
];

type Rounding = (value: number) => number;

function span(minutes: number, round: Rounding): string {
  const [, size, unit] = STEPS.find(([limit]) => round(minutes) < limit) ?? [0, 1, "min"];
  return `${round(minutes / size)} ${unit}`;
}

/** `just now`, `5 min ago`, `3 h ago`, `12 d ago`. */
export function formatAgo(at: number, now: number): string {
  const minutes = Math.floor((now - at) / MINUTE_MS);
  return minutes < 1 ? "just now" : `${span(minutes, Math.floor)} ago`;
}

/** `in 3 h`; what is less than a minute off is `in a minute`. */
export function formatAhead(at: number, now: number): string {
  const minutes = (at - now) / MINUTE_MS;
  return minutes < 1.5 ? "in a minute" : `in ${span(minutes, Math.round)}`;
}

/** The whole date and time, for a hover text. */
export function formatDate(at: number, locale?: string): string {
  return new Date(at).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

/** For a list by time: the clock to the second today, else the day and the clock. */
export function formatTimestamp(at: number, now: number, locale?: string, timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const show = (time: number, style: Intl.DateTimeFormatOptions) =>
    new Date(time).toLocaleString(locale, { ...style, ...zone });
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  const day = { day: "numeric", month: "short", year: "numeric" } as const;
  if (show(at, day) === show(now, day)) return show(at, { ...clock, second: "2-digit" });
  const sameYear = show(at, { year: "numeric" }) === show(now, { year: "numeric" });
  return show(at, sameYear ? { day: "numeric", month: "short", ...clock } : day);
}
