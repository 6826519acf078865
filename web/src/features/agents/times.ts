/** Moments ahead, as people say them. */

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** How long until `at`, in at most two units; at least a minute. */
export function formatTimeUntil(at: number, now: number): string {
  const minutes = Math.max(1, Math.ceil((at - now) / MINUTE_MS));
  if (minutes < 60) return `${minutes} min`;
  const [days, hours, rest] = [
    Math.floor(minutes / DAY_MINUTES),
    Math.floor((minutes % DAY_MINUTES) / 60),
    minutes % 60,
  ];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  return rest > 0 ? `${hours} h ${rest} min` : `${hours} h`;
}

/** The clock's time, with the day where it is another one. */
export function formatClockTime(at: number, now: number, locale?: string, timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = (time: number) => new Date(time).toLocaleDateString(locale, zone);
  const style: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", ...zone };
  if (day(at) !== day(now)) style.weekday = "short";
  return new Date(at).toLocaleString(locale, style);
}
