/** The sync in words. */
import { plural } from "../../lib/format.ts";
import type { Sync, Target } from "../../api/types.ts";

export type Status = Target["status"];

export const STATUS_WORDS: Record<Status, string> = {
  ok: "",
  absent: "not installed",
  skipped: "skipped",
  unreadable: "unreadable",
  failed: "failed",
};

const REASONS: Partial<Record<Status, string>> = {
  absent: "Its program and its configuration file are missing.",
  skipped: "Its environment variable names a relative folder. Use an absolute path.",
};

/** Why a target gets nothing; empty for one that is in order. */
export const explainStatus = ({ status, error }: Target): string => error ?? REASONS[status] ?? "";

const RANKS: Record<Status, number> = { failed: 0, unreadable: 0, skipped: 1, ok: 2, absent: 3 };

/** What needs a person first, then what is or would be written; else the service's order. */
export function sortTargets(targets: readonly Target[]): Target[] {
  const rankOf = (target: Target) =>
    RANKS[target.status] + (target.status === "ok" && target.added.length === 0 ? 0.5 : 0);
  return targets.toSorted((a, b) => rankOf(a) - rankOf(b));
}

export const countAdditions = ({ targets }: Sync): number =>
  targets.reduce((sum, { added }) => sum + added.length, 0);

const broken = ({ targets }: Sync): number =>
  targets.filter(({ status }) => status === "failed" || status === "unreadable").length;

/** One sentence on the whole, and whether nothing is left to do. */
export function summarizeSync(result: Sync): { good: boolean; text: string } {
  const count = countAdditions(result);
  const files = result.targets.filter(({ added }) => added.length > 0).length;
  const bad = broken(result);
  const trouble = bad > 0 ? ` ${plural(bad, "file")} can't be used.` : "";
  if (count === 0) {
    const none = result.targets.every(({ servers }) => servers.length === 0);
    const text = none ? "No agent has MCP servers yet." : "All agents are in sync.";
    return { good: bad === 0, text: text + trouble };
  }
  const what = `${plural(count, "entry", "entries")} in ${plural(files, "file")}`;
  const text = result.applied ? `Added ${what}.` : `Sync will add ${what}.`;
  return { good: result.applied && bad === 0, text: text + trouble };
}

/** What a person should know beside: a title, what it means, and the names. */
export function listNotes(result: Sync): [string, string, string[]][] {
  const all: [string, string, string[]][] = [
    ["Defined differently", "other agents get the first agent's definition", result.conflicts],
    ["Turned off", "turned off wherever they are defined, so they are not copied", result.disabled],
    ["Agents without a known file", "sync can't update them", result.unsupported],
  ];
  return all.filter(([, , names]) => names.length > 0);
}
