/** JSON as editors keep it: with comments, and commas behind the last of a list. */

/** A string, a comment, or a comma that only blanks and comments part from a bracket. */
const PARTS = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g;
const LAST_COMMA = /"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g;

const strings = (part: string, other: string): string => (part.startsWith('"') ? part : other);

/** @throws SyntaxError: it is none. */
export function parseJsonc(text: string): unknown {
  const bare = text.replace(/^\uFEFF/, "").replace(PARTS, (part) => strings(part, " "));
  return JSON.parse(bare.replace(LAST_COMMA, (part) => strings(part, "")));
}
