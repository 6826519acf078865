/** Prompts sent before, for each session, walked with the arrow keys. */

/** Oldest first. */
export type Prompts = readonly string[];

export const PROMPTS_MAX = 100;
export const SESSIONS_MAX = 30;
/** Characters kept in all: the browser's storage is small. */
export const CHARS_MAX = 200_000;

/** The same prompt again moves to the end instead of standing twice. */
export function remember(prompts: Prompts, text: string): Prompts {
  return [...prompts.filter((other) => other !== text), text].slice(-PROMPTS_MAX);
}

export interface Walk {
  /** Steps back from the newest; 0 is the draft itself. */
  back: number;
  /** What stood in the field before the walk. */
  draft: string;
}

export interface Step {
  walk: Walk;
  text: string;
}

/**
 * @param step 1 to an older prompt, -1 to a newer one and at last to the draft.
 * @returns undefined where there is nothing further that way.
 */
export function walkTo(
  prompts: Prompts,
  walk: Walk | undefined,
  text: string,
  step: 1 | -1,
): Step | undefined {
  const from = walk ?? { back: 0, draft: text };
  const back = from.back + step;
  if (back < 0 || back > prompts.length) return undefined;
  const found = back === 0 ? from.draft : prompts[prompts.length - back];
  return found === undefined ? undefined : { walk: { ...from, back }, text: found };
}

export type PromptHistory = ReadonlyMap<string, Prompts>;

const size = (prompts: Prompts): number => prompts.reduce((sum, text) => sum + text.length, 0);

/** The sessions used last stay, as far as the bounds go. */
export function shorten(book: PromptHistory): PromptHistory {
  const kept: [string, Prompts][] = [];
  let left = CHARS_MAX;
  for (const [id, prompts] of [...book].toReversed().slice(0, SESSIONS_MAX)) {
    left -= size(prompts);
    if (left < 0) break;
    kept.unshift([id, prompts]);
  }
  return new Map(kept);
}

export function addToHistory(book: PromptHistory, id: string, text: string): PromptHistory {
  const next = new Map(book);
  next.delete(id);
  return shorten(next.set(id, remember(book.get(id) ?? [], text)));
}

export const serializePromptHistory = (book: PromptHistory): string => JSON.stringify([...book]);

const isEntry = (value: unknown): value is [string, string[]] =>
  Array.isArray(value) &&
  typeof value[0] === "string" &&
  Array.isArray(value[1]) &&
  value[1].every((text) => typeof text === "string");

/** Stored text may be of an older page or edited: what does not fit is left out. */
export function readPromptHistory(text: string | null): PromptHistory {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return shorten(new Map(Array.isArray(value) ? value.filter(isEntry) : []));
  } catch {
    return new Map();
  }
}
