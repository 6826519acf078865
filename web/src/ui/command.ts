/** A command line in words of a few kinds, for the eye alone: nothing is decided by it. */

export type WordKind = "word" | "program" | "option" | "string" | "variable" | "operator" | "comment";

export interface Part {
  text: string;
  kind: WordKind | "blank";
}

const BLANK = /\s+/y;
const COMMENT = /#[^\n]*/y;
const OPERATOR = /\|\||&&|;;|\d?>>|\d?>&\d?|<<<?|[|&;()<>]|\d>/y;
const STRING = /"(?:[^"\\]|\\[^])*"?|'[^']*'?/y;
const VARIABLE = /\$(?:\{[^}\n]*\}?|\w+|[?!#@*$-])/y;
const PLAIN = /(?:[^\s"'$|&;()<>\\]|\\[^]|\$(?![\w{?!#@*$-]))+|\\/y;

const KINDS: readonly (readonly [WordKind | "blank", RegExp])[] = [
  ["blank", BLANK],
  ["comment", COMMENT],
  ["operator", OPERATOR],
  ["string", STRING],
  ["variable", VARIABLE],
  ["word", PLAIN],
];

/** After these a program's name comes next. */
const STARTS = /^(?:\|\|?|&&?|;|\()$/;
const FRONT = /^(?:sudo|env|time|nohup|exec|command|xargs|then|do|else|!)$/;
const ASSIGNMENT = /^\w+=/;

function partAt(text: string, at: number, fresh: boolean): Part {
  for (const [kind, pattern] of KINDS) {
    if (kind === "comment" && !fresh) continue;
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return { text: found, kind };
  }
  return { text: text.charAt(at), kind: "word" };
}

/** @returns parts that make up the text again. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let begins = true;
  for (let at = 0; at < text.length;) {
    const before = parts.at(-1);
    const fresh = before === undefined || before.kind === "blank";
    const part = partAt(text, at, fresh);
    at += part.text.length;
    if (part.kind === "operator") begins = STARTS.test(part.text);
    else if (part.kind === "blank") begins ||= part.text.includes("\n");
    else if (part.kind === "word" && fresh && part.text.startsWith("-")) part.kind = "option";
    else if (begins && part.kind !== "comment" && !ASSIGNMENT.test(part.text)) {
      if (part.kind === "word") part.kind = "program";
      begins = FRONT.test(part.text);
    }
    parts.push(part);
  }
  return parts;
}
