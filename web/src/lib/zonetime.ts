/** Wall-clock times of a zone as forms and lists show them. */

import { formatOf } from "./zone.ts";

const DAY_MS = 86_400_000;

/** The wall clock at `at`, as if its numbers were UTC (ms). */
function wallOf(at: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map((part) => [part.type, Number(part.value)]),
  );
  const [year = 0, month = 1, day, hour, minute, second] = (
    ["year", "month", "day", "hour", "minute", "second"] as const
  ).map((type) => parts.get(type));
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** How far the zone's clocks are ahead of UTC at the moment `at`, in milliseconds. */
export function offsetAt(at: number, zone: string): number {
  return wallOf(at, zone) - Math.floor(at / 1000) * 1000;
}

/** The value of a `datetime-local` field that shows `at` in the zone. */
export function toField(at: number, zone: string): string {
  return new Date(wallOf(at, zone)).toISOString().slice(0, 16);
}

/**
 * The moment that a `datetime-local` field's value means in the zone.
 *
 * A time that the zone's clocks skip in spring is taken as one after the gap; one that they
 * show twice in autumn is the first of the two.
 * @returns undefined where the value is no time.
 */
export function fromField(value: string, zone: string): number | undefined {
  const wall = Date.parse(`${value}Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(value) || Number.isNaN(wall)) return undefined;
  const before = wall - offsetAt(wall - DAY_MS, zone);
  if (wallOf(before, zone) === wall) return before;
  const after = wall - offsetAt(before, zone);
  return wallOf(after, zone) === wall ? after : before;
}

/** `UTC+2`, `UTC-3:30`, `UTC`. */
export function offsetText(ms: number): string {
  const minutes = Math.abs(Math.round(ms / 60_000));
  if (minutes === 0) return "UTC";
  const rest = minutes % 60;
  const text = `${Math.floor(minutes / 60)}${rest > 0 ? `:${String(rest).padStart(2, "0")}` : ""}`;
  return `UTC${ms < 0 ? "−" : "+"}${text}`;
}
