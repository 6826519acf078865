/** Days of the week and clock times in words. */

export const DAY_NAMES = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

/** Monday first, as calendars show it where the 24-hour clock is used. */
export const WEEK: readonly number[] = [1, 2, 3, 4, 5, 6, 0];

export const shortDay = (day: number): string => (DAY_NAMES[day] ?? "?").slice(0, 3);

const two = (value: number): string => String(value).padStart(2, "0");

export const clock = (hour: number, minute: number): string => `${two(hour)}:${two(minute)}`;

/** `Mon, Wed and Fri`, `weekdays`, `weekends`, `every day`. */
export function formatDays(days: readonly number[]): string {
  const sorted = WEEK.filter((day) => days.includes(day));
  if (sorted.length === 7) return "every day";
  const key = sorted.join("");
  if (key === "12345") return "weekdays";
  if (key === "60") return "weekends";
  if (sorted.length === 1) return `every ${DAY_NAMES[sorted[0] ?? 0]}`;
  const names = sorted.map(shortDay);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
