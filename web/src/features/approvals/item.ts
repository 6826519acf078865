/** One thing that waits for a person, and what may be answered to it (protocol-approvals). */
import type { ApprovalItemResponse, ApprovalOptionResponse as ItemOption } from "../../api/types.ts";

export type { ApprovalItemResponse, ItemOption };
export type ItemKind = ApprovalItemResponse["kind"];

export type Answer =
  | { action: "approve" }
  | { action: "deny"; reason?: string }
  | { action: "option"; option: number }
  | { action: "options"; options: number[] }
  | { action: "text"; text: string };

/** Characters of a typed answer (protocol-approvals). */
export const TEXT_MAX = 4000;

const OPTION_ROW = /^\s*[❯›●>→▶]?\s*([1-9])[.)]\s+(.*)$/;
const BOX = /^(?:\[([ xX✔✓*])\]|([☐☑☒◯◉]))\s/;
const TICKED = new Set(["x", "X", "✔", "✓", "*", "☑", "☒", "◉"]);

/** Which boxes of a multiple-choice page are ticked, by option; empty where it has no boxes. */
export function readCheckboxes(item: ApprovalItemResponse): ReadonlyMap<number, boolean> {
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
export function getForm(item: ApprovalItemResponse): Form {
  if (item.kind === "idle") return "idle";
  if ((item.options ?? []).length === 0) return "blind";
  return readCheckboxes(item).size > 0 ? "multiple" : "single";
}

/** Whether own words are an answer: to an idle agent, or by a question's free-text option. */
export function acceptsText(item: ApprovalItemResponse): boolean {
  if (item.kind === "idle") return true;
  return item.kind === "question" && getForm(item) === "single" && (item.options ?? []).some(isFreeText);
}

/** Leads from a question into a conversation about it; Skip does the same. */
const CHAT = /^chat about this/i;

/** The options that are buttons: own words have their field, and one way to skip is enough. */
export const listOptions = (item: ApprovalItemResponse): readonly ItemOption[] =>
  (item.options ?? []).filter(
    (option) =>
      item.kind !== "question" || !((acceptsText(item) && isFreeText(option)) || CHAT.test(option.label)),
  );

/** Tools whose summary is a command line; of the others it is a path or a title. */
const SHELLS = /bash|shell|command|exec|terminal|run/i;

export const isShell = (item: ApprovalItemResponse): boolean => SHELLS.test(item.toolName ?? "");

/**
 * Return whether it is known what a permission is for.
 *
 * No hook told it of an agent without hooks, or of one whose hook was lost. What is not known is
 * never shown as harmless.
 */
export const isKnown = (item: ApprovalItemResponse): boolean =>
  item.kind !== "permission" ||
  (item.toolName !== undefined && !(isShell(item) && item.toolSummary === undefined));

/** Whether it is about what the agent is to run, and not about its own start or a plan. */
export const asksToRun = ({ dialog = "permission" }: ApprovalItemResponse): boolean =>
  dialog === "permission";

/** What may be grave about it, by the service's rules; a hint for the eye and no protection. */
export const getRisk = (item: ApprovalItemResponse): string | undefined =>
  item.kind === "permission" ? item.riskHint : undefined;

/** What stands nowhere in the item although agreeing allows it, in words; undefined: nothing. */
export function describeMissing(item: ApprovalItemResponse): string | undefined {
  if (item.kind !== "permission" || item.complete !== false) return undefined;
  const others = item.toolOther?.filter((name) => name !== "plan" || item.plan === undefined);
  const parts = [
    item.toolMissing && `${item.toolMissing.toLocaleString("en")} more characters`,
    others?.join(", "),
  ].filter(Boolean);
  if (parts.length > 0) return `Not in this summary: ${parts.join("; ")}`;
  return item.toolSummary ? "This may be incomplete. Check the terminal before you answer." : undefined;
}

export const isRisky = (item: ApprovalItemResponse): boolean => getRisk(item) !== undefined;

/** Whether a part of the command is not here. */
const isPart = (item: ApprovalItemResponse): boolean =>
  item.toolMissing !== undefined || (item.complete === false && item.toolOther === undefined);

/** How an option's button looks; agreeing to what is not wholly known looks like any other answer. */
export const getButtonLeaning = (item: ApprovalItemResponse, leaning: Leaning): Leaning =>
  leaning === "yes" && (!isKnown(item) || isPart(item)) && !isRisky(item) ? "other" : leaning;

export type Leaning = "yes" | "no" | "other";

/** Agrees to more than what is asked now. */
const WIDE =
  /\bauto\b|accept edits|all edits|don.t ask|always|bypass|session|remember|every|allow all|and (?:use|allow)\b/i;
const AGREES = /^(?:yes|allow|approve|proceed|run|accept)\b/i;

/** The narrowest agreement of a permission agrees; what begins with "No" or the like declines. */
export function getLeaning(item: ApprovalItemResponse, option: ItemOption): Leaning {
  if (item.kind !== "permission") return "other";
  if (/^(?:no|reject|deny|decline)\b/i.test(option.label)) return "no";
  const narrow = (item.options ?? []).filter(({ label }) => AGREES.test(label) && !WIDE.test(label));
  return narrow[0]?.n === option.n ? "yes" : "other";
}
