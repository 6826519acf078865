/** Wall-clock times of a zone that need not be this browser's. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one costs more than using it; a page knows two zones at most. */
export function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  if (formats.size > 8) formats.clear();
  formats.set(zone, made);
  return made;
}

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @returns `zone` where this browser knows it (an IANA name or `+02:00`), else the browser's own. */
export function knownZone(zone: unknown): string {
  if (typeof zone !== "string" || zone === "") return browserZone();
  try {
    formatOf(zone);
    return zone;
  } catch (error) {
    if (error instanceof RangeError) return browserZone();
    throw error;
  }
}
