/** Moments behind and ahead, as people say them. */

const MINUTE_MS = 60_000;
const STEPS: [limit: number, size: number, unit: string][] = [
  [60, 1, "min"],
  [24 * 60, 60, "h"],
  [60 * 24 * 60, 24 * 60, "d"],
  [2 * 365 * 24 * 60, 30 * 24 * 60, "months"],
  [Infinity, 365 * 24 * 60, "years"],
];

function span(minutes: number): string {
  const [, size, unit] = STEPS.find(([limit]) => minutes < limit) ?? [0, 1, "min"];
  return `${Math.floor(minutes / size)} ${unit}`;
}

/** `just now`, `5 min ago`, `3 h ago`, `12 d ago`. */
export function agoText(at: number, now: number): string {
  const minutes = Math.floor((now - at) / MINUTE_MS);
  return minutes < 1 ? "just now" : `${span(minutes)} ago`;
}

/** `in 3 h`; what is less than a minute off is `in a minute`. */
export function aheadText(at: number, now: number): string {
  const minutes = Math.floor((at - now) / MINUTE_MS);
  return minutes < 1 ? "in a minute" : `in ${span(minutes)}`;
}

/** The whole date and time, for a hover text. */
export function dateText(at: number, locale?: string): string {
  return new Date(at).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}
