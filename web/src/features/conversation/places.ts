/** The same moment in a conversation and in its terminal: texts to look for, each way. Pure. */
import { type Item, textOf } from "./items.ts";

/** Characters of a phrase: a row of a narrow terminal holds them, and no row breaks before them. */
const PHRASE = 40;
/** A shorter phrase stands in many places. */
const PHRASE_LEAST = 8;
/** Phrases of an item that are looked for one after another. */
const PHRASES_MAX = 5;

/** What Markdown writes around words and a terminal does not show. */
const LINE_MARKS = /^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+|\|\s*)+/;

/** The beginning of a line up to what a terminal draws otherwise; whole words. */
function takePhrase(line: string): string {
  const plain =
    line
      .replace(LINE_MARKS, "")
      .split(/[`*_[\]|~]|<\//, 1)[0]
      ?.trim() ?? "";
  if (plain.length <= PHRASE) return plain;
  const cut = plain.slice(0, PHRASE);
  const end = cut.lastIndexOf(" ");
  return end > PHRASE / 2 ? cut.slice(0, end) : cut;
}

/** The words of an item that its terminal shows, first those that are typed or written as they are. */
function linesOf({ text, tool }: Item): string[] {
  if (!tool) return (text ?? "").split("\n");
  const { command, file_path: path } = tool.input;
  const given = [command, path].filter((each) => typeof each === "string");
  const file = typeof path === "string" ? [path.slice(path.lastIndexOf("/") + 1)] : [];
  return [...given, ...file, tool.title, ...(tool.output ?? "").split("\n")].flatMap((each) =>
    each.split("\n"),
  );
}

/** @returns texts of these items to look for in the terminal's history, the best first. */
export function listPhrases(items: readonly Item[]): string[] {
  const phrases = items.flatMap(linesOf).map(takePhrase);
  const long = phrases.filter((each) => each.length >= PHRASE_LEAST);
  const chosen = long.length > 0 ? long : phrases.filter((each) => each !== "");
  return [...new Set(chosen)].slice(0, PHRASES_MAX);
}

/** Letters and digits alone: rows break, Markdown and frames stand between them. */
export const squeeze = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** Letters of a row that tells which item it is of; fewer are in many. */
const ROW_LEAST = 8;
/** So many letters leave no doubt. */
const ROW_SURE = 20;

/** A row without the number that agents write before the lines of a difference. */
const withoutNumber = (row: string): string => row.replace(/^\s*\d+\s+/, "");

function wordsOf(item: Item): string {
  const lines = item.tool?.diffs?.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines)) ?? [];
  return squeeze(`${textOf(item)}\n${lines.join("\n")}`);
}

export interface Place {
  id: string;
  /** No older item has to be looked at. */
  sure: boolean;
}

/**
 * Find the newest item that shows these rows of a terminal.
 * @param rows the person selected exactly these; else any of them will do, the first ones rather.
 */
export function findPlace(
  items: readonly Item[],
  rows: readonly string[],
  chosen: boolean,
): Place | undefined {
  const lines = chosen
    ? [squeeze(rows.join("\n"))].filter((line) => line !== "")
    : rows
        .map(withoutNumber)
        .map(squeeze)
        .filter((line) => line.length >= ROW_LEAST);
  const texts = items.map(wordsOf);
  let unsure: Place | undefined;
  for (const line of lines) {
    const item = items[texts.findLastIndex((text) => text.includes(line))];
    if (!item) continue;
    const place = { id: item.parentId ?? item.id, sure: chosen || line.length >= ROW_SURE };
    if (place.sure) return place;
    unsure ??= place;
  }
  return unsure;
}
