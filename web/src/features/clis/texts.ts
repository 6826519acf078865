/** The registry in words. */
import type { CliBody, CliFile, CliItem, InstallPlan } from "../../api/types.ts";

export interface Draft {
  id: string;
  label: string;
  badge: string;
  program: string;
  words: string;
  /** Further names that the program is looked for by; the form leaves them. */
  others: readonly string[];
}

export const EMPTY: Draft = { id: "", label: "", badge: "", program: "", words: "", others: [] };

/** A custom entry as its form has it. */
export function draftOf({ id, label, shortBadge, binaries = [], argv = [] }: CliItem): Draft {
  const [program = "", ...others] = binaries;
  const words = binaries.includes(argv[0] ?? "") ? argv.slice(1) : argv;
  return { id, label, badge: shortBadge, program, words: words.join(" "), others };
}

const split = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** What the draft comes to; the program is the first word of its own command. */
export function bodyOf(draft: Draft): CliBody {
  const program = draft.program.trim();
  return {
    label: draft.label.trim(),
    shortBadge: draft.badge.trim(),
    binaries: [program, ...draft.others],
    argv: [program, ...split(draft.words)],
  };
}

/** The command line that a session of the draft would run; empty without a program. */
export function commandLine(draft: Draft): string {
  return draft.program.trim() === "" ? "" : bodyOf(draft).argv.join(" ");
}

/** What is to be mended before the draft is sent; the service's own rules come behind. */
export function validateDraft(draft: Draft): string | undefined {
  if (!/^[a-z][a-z0-9-]{0,23}$/.test(draft.id.trim()))
    return "Start the ID with a lowercase letter, then use lowercase letters, digits and dashes (24 at most).";
  if (draft.label.trim() === "") return "Enter a name.";
  if (draft.badge.trim() === "") return "Enter a badge of up to 6 characters.";
  if (/\s/.test(draft.program.trim()) || draft.program.trim() === "")
    return "Enter one program. Arguments have their own field.";
  return undefined;
}

/** One line on whether it can be used. */
export function describeInstallState({ installed, enabled, version }: CliItem): string {
  if (!installed) return "not installed";
  return `${version ?? "installed"}${enabled ? "" : ", turned off"}`;
}

/** Where the program is, or how it comes here. */
export const describePath = ({ path, installCommand }: CliItem): string =>
  path ?? installCommand ?? "not found on PATH";

/** How many folders were looked through for a program that is missing. */
export const describeSearch = (folders: readonly string[]): string =>
  folders.length === 1 ? "Searched 1 folder" : `Searched ${folders.length} folders`;

export const describeInstallPlan = ({ target, writable }: InstallPlan): string =>
  writable
    ? `Installs into ${target}. Doesn't need root.`
    : `The server can't write to ${target}. Make its user the owner of that folder first.`;

/** What is wrong with the file of entries, and what to do about it; nothing where all is well. */
export function describeFileProblem({ path, problem, entries }: CliFile): string {
  if (problem !== undefined)
    return `${problem}. Your custom agents are not loaded and editing is locked. Fix ${path}, set its mode to 0600, or move it away to start over.`;
  const ids = entries.map(({ id }) => id);
  if (ids.length === 0) return "";
  return `Not loaded because of errors in ${path}: ${entries.map(({ id, problem: why }) => `${id} (${why})`).join("; ")}. Fix ${ids.length === 1 ? "the entry" : "the entries"} in the file, or remove ${ids.length === 1 ? "it" : "them"} here.`;
}

/** An error of the service, with what to do about it. */
export function addAdvice(text: string): string {
  if (text.includes("the file first"))
    return `${text}. Fix clis.json in the server's data folder or set its mode to 0600. Nothing was changed.`;
  if (text.includes("which is not installed")) return `${text}. Install it first, then try again.`;
  return text;
}
