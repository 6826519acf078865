/** The sync in words. */
import { plural } from "../lib/format.ts";
import type { Status, SyncResult, Target } from "./types.ts";

export const STATUS_WORDS: Record<Status, string> = {
  ok: "",
  absent: "not installed",
  skipped: "left out",
  unreadable: "cannot be read",
  failed: "failed",
};

const REASONS: Partial<Record<Status, string>> = {
  absent: "Neither the program nor its file is there.",
  skipped: "Its own variable names a relative folder, which may mean another one to the program.",
};

/** Why a target gets nothing; empty for one that is in order. */
export const reasonOf = ({ status, error }: Target): string => error ?? REASONS[status] ?? "";

const RANKS: Record<Status, number> = { failed: 0, unreadable: 0, skipped: 1, ok: 2, absent: 3 };

/** What needs a person first, then what is or would be written; else the service's order. */
export function inOrder(targets: readonly Target[]): Target[] {
  const rankOf = (target: Target) =>
    RANKS[target.status] + (target.status === "ok" && target.added.length === 0 ? 0.5 : 0);
  return targets.toSorted((a, b) => rankOf(a) - rankOf(b));
}

export const additions = ({ targets }: SyncResult): number =>
  targets.reduce((sum, { added }) => sum + added.length, 0);

const broken = ({ targets }: SyncResult): number =>
  targets.filter(({ status }) => status === "failed" || status === "unreadable").length;

/** One sentence on the whole, and whether nothing is left to do. */
export function verdict(result: SyncResult): { good: boolean; text: string } {
  const count = additions(result);
  const files = result.targets.filter(({ added }) => added.length > 0).length;
  const bad = broken(result);
  const trouble = bad > 0 ? ` ${plural(bad, "file")} could not be used.` : "";
  if (count === 0) {
    const none = result.targets.every(({ servers }) => servers.length === 0);
    const text = none ? "No MCP server is set up anywhere yet." : "Every agent has what it can have.";
    return { good: bad === 0, text: text + trouble };
  }
  const what = `${plural(count, "entry", "entries")} in ${plural(files, "file")}`;
  const text = result.applied ? `Added ${what}.` : `A sync would add ${what}.`;
  return { good: result.applied && bad === 0, text: text + trouble };
}

/** What a person should know beside: a title, what it means, and the names. */
export function notes(result: SyncResult): [string, string, string[]][] {
  const all: [string, string, string[]][] = [
    ["Defined differently", "the first agent's definition is the one that others get", result.conflicts],
    ["Switched off", "wherever they are defined, so they are not copied", result.disabled],
    ["Agents without a known file", "the sync cannot serve them", result.unsupported],
  ];
  return all.filter(([, , names]) => names.length > 0);
}
