/** Parts of lines that have one colour, and their cutting. */

export interface Token {
  text: string;
  /** Its class; empty for plain text. */
  kind: string;
}

/** Tokens by line, from 0. */
export type Colours = readonly (readonly Token[])[];

/** @returns the tokens of the characters from `from` to `to`, of which the outer ones are cut. */
export function cutTokens(tokens: readonly Token[], from: number, to: number): Token[] {
  const found: Token[] = [];
  let at = 0;
  for (const { text, kind } of tokens) {
    const [first, end] = [Math.max(from - at, 0), Math.min(to - at, text.length)];
    if (first < end) found.push({ text: text.slice(first, end), kind });
    at += text.length;
  }
  return found;
}

/** Whether the tokens are those of this line: what was parsed may be older. */
export const areTokensOf = (tokens: readonly Token[] | undefined, line: string): tokens is readonly Token[] =>
  tokens !== undefined && tokens.map(({ text }) => text).join("") === line;
