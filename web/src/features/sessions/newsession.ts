/** Rules of the new-session dialog: what it offers, what it remembers, what it sends. */
import { signal } from "@preact/signals";
import type { CliItem, CreateBody, FolderTrust, Session, Settings } from "../../api/types.ts";

/** Where the dialog begins, where something else than the last choice is wanted. */
export const newSessionPlace = signal<
  { workingDir: string; caseName: string; elsewhere?: string | undefined } | undefined
>(undefined);

export interface Draft {
  mode: string;
  workingDir: string;
  /** The case whose folder `workingDir` is, where it was chosen as one. */
  caseName?: string;
  /** Where the case's sessions run, if not on the service's machine: what is installed there is not known. */
  elsewhere?: string | undefined;
  /** A worktree of the repository there, on this branch; absent or empty: the folder itself. */
  branch?: string | undefined;
  name: string;
  /** Sent to an agent once it is ready; a shell has none. */
  prompt?: string;
  /** Launch parameters by name; an empty one is what the agent has by itself. */
  params?: Record<string, string>;
  /** A model of an endpoint; absent: the agent's own. */
  customModel?: { endpointId: string; modelId: string } | undefined;
}

export interface Remembered {
  mode?: string;
  folders: string[];
  /** Those of the folders where a worktree was wanted last. */
  worktrees: string[];
}

export const FOLDERS_MAX = 8;

/** Where this browser keeps what was chosen last. */
export const REMEMBERED_KEY = "tservice.newsession";

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string").slice(0, FOLDERS_MAX) : [];

export function parseRemembered(text: string | null): Remembered {
  try {
    const value = JSON.parse(text ?? "{}") as Record<"mode" | "folders" | "worktrees", unknown> | null;
    const kept: Remembered = { folders: textsOf(value?.folders), worktrees: textsOf(value?.worktrees) };
    if (typeof value?.mode === "string") kept.mode = value.mode;
    return kept;
  } catch {
    return { folders: [], worktrees: [] };
  }
}

export function remember(before: Remembered, draft: Draft): Remembered {
  // A folder of another machine is none of this one; its case is offered by name.
  const folder = draft.elsewhere === undefined ? draft.workingDir.trim() : "";
  const first = (folders: readonly string[], wanted: boolean) =>
    [...(wanted ? [folder] : []), ...folders.filter((each) => each !== folder)].slice(0, FOLDERS_MAX);
  return {
    mode: draft.mode,
    folders: first(before.folders, folder !== ""),
    worktrees: first(before.worktrees, folder !== "" && !!draft.branch),
  };
}

export const canLaunch = (entry: CliItem): boolean => entry.enabled && entry.installed;

/** @returns whether somebody could use it: a packaged CLI that is neither here nor can be installed is left out. */
export const isWithinReach = ({ installed, stock, installCommand }: CliItem): boolean =>
  installed || !stock || installCommand !== undefined;

/** Ready ones first; a CLI that was switched off is not offered at all. */
export function choices(entries: readonly CliItem[]): CliItem[] {
  const shown = entries.filter((entry) => entry.enabled && isWithinReach(entry));
  return [...shown.filter((entry) => entry.installed), ...shown.filter((entry) => !entry.installed)];
}

export function firstMode(entries: readonly CliItem[], wishes: readonly (string | undefined)[]): string {
  const ready = entries.filter(canLaunch);
  const wished = wishes.find((wish) => ready.some((entry) => entry.id === wish));
  return wished ?? ready[0]?.id ?? "";
}

/** A folder of another machine is none of this one. */
const localFolder = (session: Session | undefined): string =>
  session && !session.remote ? session.workingDir : "";

/** Folders to offer: used here before, then those of the open sessions, the default last. */
export function recentFolders(
  kept: Remembered,
  sessions: readonly Session[],
  settings: Partial<Settings>,
): string[] {
  const all = [...kept.folders, ...sessions.map(localFolder), settings.defaultWorkingDir ?? ""];
  return [...new Set(all)].filter((folder) => folder !== "").slice(0, FOLDERS_MAX);
}

/** @param inFront the session that is shown: its folder is the best guess of a browser that knows none. */
export function firstDraft(
  entries: readonly CliItem[],
  kept: Remembered,
  settings: Partial<Settings>,
  inFront?: Session,
): Draft {
  return {
    mode: firstMode(entries, [kept.mode, settings.defaultMode]),
    workingDir: settings.defaultWorkingDir || kept.folders[0] || localFolder(inFront),
    name: "",
  };
}

/**
 * Empty fields are left out: the service knows better defaults (protocol-create).
 * @param grid the size that a terminal has here, so that the program starts with it.
 */
export function bodyOf(draft: Draft, grid?: { cols: number; rows: number }): CreateBody {
  const body: CreateBody = { start: true, mode: draft.mode, ...grid };
  const folder = draft.workingDir.trim();
  const name = draft.name.trim();
  const branch = draft.branch?.trim();
  if (draft.caseName) body.caseName = draft.caseName;
  else if (folder !== "") body.workingDir = folder;
  if (branch && (body.caseName || body.workingDir)) body.worktree = { branch };
  if (name !== "") body.name = name;
  const params = Object.entries(draft.params ?? {}).filter(([, value]) => value.trim() !== "");
  if (params.length > 0)
    body.params = Object.fromEntries(params.map(([name, value]) => [name, value.trim()]));
  if (draft.customModel) body.customModel = draft.customModel;
  return body;
}

/** Words of a prompt that go into a branch's name. */
const BRANCH_WORDS = 4;

/**
 * A branch named after what is to be done on it: `fix-the-login-form`.
 * @param otherwise its name where nothing is said.
 */
export function suggestBranch(prompt: string | undefined, otherwise: string): string {
  const words = (prompt ?? "")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words?.slice(0, BRANCH_WORDS).join("-").slice(0, 40) ?? otherwise;
}

/** A name that no branch of another day or minute has: `agent-1128-1203`. */
export function nameBranch(now: Date): string {
  const figures = now.toISOString().replace(/\D/g, "");
  return `agent-${figures.slice(4, 8)}-${figures.slice(8, 12)}`;
}

/** The fields of the session that say which folder an agent of which mode reads. */
export function placeOf(draft: Draft): Record<string, string> {
  const { mode, caseName } = draft;
  const workingDir = draft.workingDir.trim();
  if (caseName) return { mode, caseName };
  return workingDir === "" ? { mode } : { mode, workingDir };
}

/** One line on what a folder brings; undefined: there is nothing to be said. */
export function folderWords({ state, paths, missing }: FolderTrust): string | undefined {
  if (state === "nothing") return undefined;
  const named = paths.length > 0 ? ` (${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ", …" : ""})` : "";
  const left = missing > 0 ? `; ${missing.toLocaleString("en")} characters are not shown` : "";
  return state === "trusted"
    ? `You trust what runs in this folder${named}${left}`
    : `This folder is asked about in the inbox before the session starts${named}${left}`;
}
