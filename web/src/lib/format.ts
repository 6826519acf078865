/** Figures and names as people read them. */

const UNITS = ["bytes", "KB", "MB", "GB"];

export function bytes(count: number): string {
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

/** The last folders of a path, short enough for a line: `…/src/project`. */
export function shortPath(path: string, keep = 2): string {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.length <= keep) return path;
  return `…/${parts.slice(-keep).join("/")}`;
}
