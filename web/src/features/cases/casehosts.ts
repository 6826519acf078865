/** What a case elsewhere is made of (protocol-remote, protocol-containers). */
import { readContainerHosts } from "../containers/calls.ts";
import { readHosts } from "../hosts/calls.ts";
import { createContainer, linkContainer, linkRemote } from "./calls.ts";
import type { CaseResponse } from "./types.ts";

/** A machine, or an engine that makes containers. */
export interface CaseHost {
  kind: "remote" | "container";
  id: string;
  label: string;
  /** The service can make a folder of its own for a case of this one. */
  makesFolders: boolean;
}

/** The host of containers whose cases need no folder that is there. */
const DEFAULT_HOST = "default";

export interface CaseDraft {
  host: CaseHost;
  folder: "there" | "new";
  path: string;
  /** Absent: made from the folder's. */
  name: string | undefined;
}

/** Two hosts of different kinds may have the same id. */
export const getHostKey = ({ kind, id }: CaseHost): string => `${kind} ${id}`;

export async function readCaseHosts(): Promise<CaseHost[]> {
  const [remote, containers] = await Promise.all([readHosts(), readContainerHosts()]);
  return [
    ...remote.map(({ id, label }) => ({ kind: "remote" as const, id, label, makesFolders: false })),
    ...containers.map(({ id, label }) => ({
      kind: "container" as const,
      id,
      label,
      makesFolders: id === DEFAULT_HOST,
    })),
  ];
}

/** Whether a folder has to be named. */
const needsPath = ({ host, folder }: CaseDraft): boolean => host.kind === "remote" || folder === "there";

export const isComplete = (wish: CaseDraft): boolean =>
  (wish.name ?? "") !== "" && (!needsPath(wish) || wish.path.trim() !== "");

export function createCaseOnHost(wish: CaseDraft & { name: string }): Promise<{ case: CaseResponse }> {
  const { host, name } = wish;
  const path = wish.path.trim();
  if (host.kind === "remote") return linkRemote(name, host.id, path);
  return needsPath(wish) ? linkContainer(name, host.id, path) : createContainer(name);
}
