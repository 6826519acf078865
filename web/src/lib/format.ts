/** Figures and names as people read them. */

const UNITS = ["bytes", "KB", "MB", "GB"];

export function formatBytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** At most so many UTF-16 units of a text; no letter, accent or emoji is cut apart. */
export function truncateText(text: string, most: number): string {
  if (text.length <= most) return text;
  // What is one letter may have many units, but no text is looked at for longer than it is shown.
  let end = 0;
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, most + 32))) {
    if (end + segment.length > most) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/** The last folders of a path, short enough for a line: `…/src/project`. */
export function shortenPath(path: string, keep = 2): string {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.length <= keep) return path;
  return `…/${parts.slice(-keep).join("/")}`;
}
