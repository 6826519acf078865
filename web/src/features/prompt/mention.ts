/** `@` and the beginning of a file's name, where the caret stands behind it. */
import { signal } from "@preact/signals";

export interface Mention {
  sessionId: string;
  /** Where the `@` is, and where the caret. */
  from: number;
  to: number;
  words: string;
}

/** Undefined while none is written. */
export const mention = signal<Mention | undefined>(undefined);

/** What the list of files does with a key before the field does; true where it took it. */
export const mentionKey = signal<((key: string) => boolean) | undefined>(undefined);

/** The `@` of an address or a name stands behind a letter. */
const BEGUN = /(?:^|\s)@(\S*)$/;

export function mentionAt(sessionId: string, text: string, caret: number): Mention | undefined {
  const words = BEGUN.exec(text.slice(0, caret))?.[1];
  return words === undefined ? undefined : { sessionId, from: caret - words.length - 1, to: caret, words };
}

/** The text with the file in the mention's place, and where the caret is then. */
export function insertMention(
  text: string,
  { from, to }: Mention,
  path: string,
): { text: string; caret: number } {
  const name = `@${path} `;
  const rest = text.slice(to).replace(/^ /, "");
  return { text: text.slice(0, from) + name + rest, caret: from + name.length };
}
