/** What a case elsewhere is made of (protocol-remote, protocol-containers). */
import { api } from "../../api/client.ts";
import type { CaseEnvelope } from "../../api/types.ts";

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
  const [remote, containers] = await Promise.all([
    api.get("/api/remote-hosts"),
    api.get("/api/container-hosts"),
  ]);
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

export function createCaseOnHost(wish: CaseDraft & { name: string }): Promise<CaseEnvelope> {
  const { host, name } = wish;
  const path = wish.path.trim();
  const hostId = host.id;
  if (host.kind === "remote")
    return api.post("/api/cases/remote-link", { body: { name, hostId, remotePath: path } });
  return needsPath(wish)
    ? api.post("/api/cases/container-link", { body: { name, hostId, workspacePath: path } })
    : api.post("/api/cases/container-create", { body: { name } });
}
