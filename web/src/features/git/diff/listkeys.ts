/** The arrow keys among the files: three hundred of them are one stop of the Tab key. */

/** @returns where a key leads from row `at` of `count`; undefined for other keys. */
export function stepOf(key: string, at: number, count: number): number | undefined {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}

export function handleListKey(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const rows = [...list.querySelectorAll<HTMLElement>("button.git-file")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? undefined : stepOf(event.key, at, rows.length);
  if (to === undefined) return;
  event.preventDefault();
  rows[to]?.focus();
}
