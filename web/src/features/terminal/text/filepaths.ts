/** Places in files that a program names in its output: `src/a.ts:12`, or as Python tells them. */

export interface FilePlace {
  /** Where in the text, and how long. */
  at: number;
  length: number;
  path: string;
  /** From 1. */
  line: number;
}

/** Not behind what an address or another number has before it. */
const WITH_LINE =
  /(?<![\w/.:@~+-])((?:~|\.{1,2})?\/?(?:[\w.@+-]+\/)*[\w.@+-]+):(\d{1,7})(?::\d{1,5})?(?![\w.])/g;
const OF_PYTHON = /File "([^"\n]{1,1024})", line (\d{1,7})/g;

/** A time, an address with its port or a host are none: a name has letters, and an end or a folder. */
function isPath(path: string): boolean {
  if (!/[A-Za-z]/.test(path)) return false;
  return path.includes("/") || /[\w+-]\.[A-Za-z]\w*$/.test(path);
}

const placeOf = (match: RegExpExecArray | RegExpMatchArray): FilePlace => ({
  at: match.index ?? 0,
  length: match[0].length,
  path: match[1] ?? "",
  line: Number(match[2]),
});

export function filesNamed(text: string): FilePlace[] {
  const python = [...text.matchAll(OF_PYTHON)].map(placeOf);
  const others = [...text.matchAll(WITH_LINE)]
    .map(placeOf)
    .filter(({ path, line }) => line > 0 && isPath(path));
  return [...python, ...others];
}
