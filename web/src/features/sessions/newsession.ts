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
  /** A worktree of that case, on this branch; absent or empty: the case's own folder. */
  branch?: string;
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
}

export const FOLDERS_MAX = 8;

/** Where this browser keeps what was chosen last. */
export const REMEMBERED_KEY = "tservice.newsession";

export function parseRemembered(text: string | null): Remembered {
  try {
    const value = JSON.parse(text ?? "{}") as { mode?: unknown; folders?: unknown } | null;
    const folders = Array.isArray(value?.folders)
      ? value.folders.filter((each) => typeof each === "string")
      : [];
    const kept: Remembered = { folders: folders.slice(0, FOLDERS_MAX) };
    if (typeof value?.mode === "string") kept.mode = value.mode;
    return kept;
  } catch {
    return { folders: [] };
  }
}

export function remember(before: Remembered, draft: Draft): Remembered {
  // A folder of another machine is none of this one; its case is offered by name.
  const folder = draft.elsewhere === undefined ? draft.workingDir.trim() : "";
  const others = before.folders.filter((each) => each !== folder);
  return { mode: draft.mode, folders: (folder === "" ? others : [folder, ...others]).slice(0, FOLDERS_MAX) };
}

export const canLaunch = (entry: CliItem): boolean => entry.enabled && entry.installed;

/** Ready ones first; a CLI that was switched off is not offered at all. */
export function choices(entries: readonly CliItem[]): CliItem[] {
  const shown = entries.filter((entry) => entry.enabled);
  return [...shown.filter((entry) => entry.installed), ...shown.filter((entry) => !entry.installed)];
}

export function firstMode(entries: readonly CliItem[], wishes: readonly (string | undefined)[]): string {
  const ready = entries.filter(canLaunch);
  const wished = wishes.find((wish) => ready.some((entry) => entry.id === wish));
  return wished ?? ready[0]?.id ?? "";
}

/** Folders to offer: used here before, then those of the open sessions, the default last. */
export function recentFolders(
  kept: Remembered,
  sessions: readonly Session[],
  settings: Partial<Settings>,
): string[] {
  const all = [
    ...kept.folders,
    ...sessions.flatMap(({ remote, workingDir }) => (remote ? [] : [workingDir])),
    settings.defaultWorkingDir ?? "",
  ];
  return [...new Set(all)].filter((folder) => folder !== "").slice(0, FOLDERS_MAX);
}

export function firstDraft(
  entries: readonly CliItem[],
  kept: Remembered,
  settings: Partial<Settings>,
): Draft {
  return {
    mode: firstMode(entries, [kept.mode, settings.defaultMode]),
    workingDir: settings.defaultWorkingDir || kept.folders[0] || "",
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
  if (draft.caseName && branch) body.worktree = { branch };
  if (name !== "") body.name = name;
  const params = Object.entries(draft.params ?? {}).filter(([, value]) => value.trim() !== "");
  if (params.length > 0)
    body.params = Object.fromEntries(params.map(([name, value]) => [name, value.trim()]));
  if (draft.customModel) body.customModel = draft.customModel;
  return body;
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
