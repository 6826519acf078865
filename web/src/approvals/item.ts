/** One thing that waits for a person, and what may be answered to it (protocol-approvals). */
import type { Item, Option as ItemOption } from "../api/types.ts";

export type { Item, ItemOption };
export type ItemKind = Item["kind"];

export type Answer =
  | { action: "approve" | "deny" }
  | { action: "option"; option: number }
  | { action: "options"; options: number[] }
  | { action: "text"; text: string };

/** Characters of a typed answer (protocol-approvals). */
export const TEXT_MAX = 4000;

const OPTION_ROW = /^\s*[❯›●>→▶]?\s*([1-9])[.)]\s+(.*)$/;
const BOX = /^(?:\[([ xX✔✓*])\]|([☐☑☒◯◉]))\s/;
const TICKED = new Set(["x", "X", "✔", "✓", "*", "☑", "☒", "◉"]);

/** Which boxes of a multiple-choice page are ticked, by option; empty where it has no boxes. */
export function boxesOf(item: Item): ReadonlyMap<number, boolean> {
  const boxes = new Map<number, boolean>();
  for (const row of (item.context ?? "").split("\n")) {
    const option = OPTION_ROW.exec(row);
    const box = BOX.exec(option?.[2] ?? "");
    if (option && box) boxes.set(Number(option[1]), TICKED.has(box[1] ?? box[2] ?? ""));
  }
  for (const { n, checked } of item.options ?? []) if (checked !== undefined) boxes.set(n, checked);
  const known = new Set((item.options ?? []).map((option) => option.n));
  return new Map([...boxes].filter(([n]) => known.has(n)));
}

const FREE_TEXT = /^(?:type something|other\b|something else|(?:no, and )?tell .+ (?:what|differently))/i;

/** The option that opens a field for one's own words; it is answered by typing them. */
export const isFreeText = (option: ItemOption): boolean => FREE_TEXT.test(option.label);

/** What the page offers for an item. */
export type Form = "idle" | "single" | "multiple" | "blind";

/** A dialog whose options could not be read can still be agreed to or left. */
export function formOf(item: Item): Form {
  if (item.kind === "idle") return "idle";
  if ((item.options ?? []).length === 0) return "blind";
  return boxesOf(item).size > 0 ? "multiple" : "single";
}

/** Whether own words are an answer: to an idle agent, or by a question's free-text option. */
export function takesText(item: Item): boolean {
  if (item.kind === "idle") return true;
  return item.kind === "question" && formOf(item) === "single" && (item.options ?? []).some(isFreeText);
}

/** Whether an option is answered in the field for own words. */
export const opensField = (item: Item, option: ItemOption): boolean => takesText(item) && isFreeText(option);

/** Tools whose summary is a command line; of the others it is a path or a title. */
const SHELLS = /bash|shell|command|exec|terminal|run/i;

export const isShell = (item: Item): boolean => SHELLS.test(item.toolName ?? "");

/** Commands that take away what nobody brings back, or reach beyond the workspace, and what they do. */
const GRAVE: readonly (readonly [RegExp, string])[] = [
  [/\brm\s+(?:\S+\s+)*?-\w*[rf]|\bgit\s+clean\s+-\w*f|\bfind\b.*\s-delete\b/i, "Deletes files for good"],
  [/\bsudo\b|\bdoas\b/i, "Runs with the rights of root"],
  [/\bmkfs|\bdd\s+if=|>\s*\/dev\/(?:sd|nvme|disk)/i, "Writes over a disk"],
  [/\bgit\s+push\s.*(?:-f\b|--force)|\bgit\s+reset\s+--hard/i, "Throws commits or changes away"],
  [/\b(?:curl|wget)\b.*\|\s*(?:sudo\s+)?\w*sh\b/i, "Runs a program from the network"],
  [/\bchmod\s+-\w*R|\bchown\s+-\w*R/i, "Changes the rights of many files"],
  [/\bdrop\s+(?:table|database)\b|\btruncate\s+table\b/i, "Deletes data of a database"],
  [/\bkubectl\s+delete\b|\bterraform\s+(?:apply|destroy)\b/i, "Changes what runs elsewhere"],
];

/**
 * Return whether it is known what a permission is for.
 *
 * No hook told it of an agent without hooks, or of one whose hook was lost. What is not known is
 * never shown as harmless.
 */
export const isKnown = (item: Item): boolean =>
  item.kind !== "permission" ||
  (item.toolName !== undefined && !(isShell(item) && item.toolSummary === undefined));

/** What makes agreeing worth a second look; a hint for the eye and no protection. */
export function riskOf(item: Item): string | undefined {
  if (item.kind !== "permission") return undefined;
  // Without a command of its own the screen may show one.
  const said = `${item.toolSummary ?? item.context ?? ""}\n${item.message ?? ""}`;
  return GRAVE.find(([pattern]) => pattern.test(said))?.[1];
}

export const isGrave = (item: Item): boolean => riskOf(item) !== undefined;

/** How an option's button looks; agreeing to what is not known looks like any other answer. */
export const lookOf = (item: Item, leaning: Leaning): Leaning =>
  leaning === "yes" && !isKnown(item) && !isGrave(item) ? "other" : leaning;

export type Leaning = "yes" | "no" | "other";

/** A permission's first option agrees and one that begins with "No" declines. */
export function leaningOf(item: Item, option: ItemOption): Leaning {
  if (item.kind !== "permission") return "other";
  if (option.n === 1) return "yes";
  return /^no\b/i.test(option.label) ? "no" : "other";
}
