/** The registry in words. */
import type { CliBody, CliFile, CliItem, InstallPlan } from "../api/types.ts";

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
export function problemOf(draft: Draft): string | undefined {
  if (!/^[a-z][a-z0-9-]{0,23}$/.test(draft.id.trim()))
    return "The id begins with a small letter; then small letters, digits and dashes, 24 at most.";
  if (draft.label.trim() === "") return "Give it a name.";
  if (draft.badge.trim() === "") return "Give it a badge of up to 6 characters.";
  if (/\s/.test(draft.program.trim()) || draft.program.trim() === "")
    return "Name one program; its arguments go into their own field.";
  return undefined;
}

/** One line on whether it can be used. */
export function stateOf({ installed, enabled, version }: CliItem): string {
  if (!installed) return "not installed";
  return `${version ?? "installed"}${enabled ? "" : ", switched off"}`;
}

/** Where the program is, or how it comes here. */
export const whereText = ({ path, installCommand }: CliItem): string =>
  path ?? installCommand ?? "not found in any folder";

/** How many folders were looked through for a program that is missing. */
export const lookedText = (folders: readonly string[]): string =>
  folders.length === 1 ? "Looked in one place" : `Looked in ${folders.length} folders`;

export const planText = ({ target, writable }: InstallPlan): string =>
  writable
    ? `It writes below ${target}, and never needs root.`
    : `The service cannot write to ${target}: make that folder its user's own first.`;

/** What is wrong with the file of entries, and what to do about it; nothing where all is well. */
export function fileTrouble({ path, problem, entries }: CliFile): string {
  if (problem !== undefined)
    return `${problem}. None of your own entries is in use, and nothing can be changed here. Correct ${path} or give it mode 0600; moved away, it is begun anew.`;
  const ids = entries.map(({ id }) => id);
  if (ids.length === 0) return "";
  return `Not in use, for a rule of ${path} is broken: ${entries.map(({ id, problem: why }) => `${id} (${why})`).join("; ")}. Correct ${ids.length === 1 ? "the entry" : "the entries"} in the file, or remove ${ids.length === 1 ? "it" : "them"} here.`;
}

/** An error of the service, with what to do about it. */
export function wayOut(text: string): string {
  if (text.includes("the file first"))
    return `${text}. Correct the file clis.json in the service's data folder, or give it mode 0600; nothing was changed.`;
  if (text.includes("which is not installed")) return `${text}. Install that first, then try again.`;
  return text;
}
