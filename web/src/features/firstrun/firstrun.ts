/** Rules of the first page: what it offers, and what it says of it. */
import type { CliItem, FoundRepositoryResponse, SignInItem } from "../../api/types.ts";
import { shortenPath } from "../../lib/format.ts";

/** Prompts that fit any repository. None of them changes a file before somebody has agreed. */
export const EXAMPLES = [
  ["Explain it", "Read this repository and explain in ten sentences what it does and how it is built."],
  ["Find a bug", "Look for a bug in this repository. Show it to me with the fix that you propose."],
  ["Write a test", "Find the most important code without a test, and write one test for it."],
] as const;

/** Rows of folders that are offered at once. */
export const FOLDERS_SHOWN = 6;

export interface FolderOffer {
  path: string;
  label: string;
  detail: string;
  isRepository: boolean;
}

/** Folders used before come first, then the repositories that were found. */
export function offerFolders(
  recent: readonly string[],
  found: readonly FoundRepositoryResponse[],
): FolderOffer[] {
  const repositories = new Set(found.map(({ path }) => path));
  const paths = [...new Set([...recent, ...repositories])].slice(0, FOLDERS_SHOWN);
  return paths.map((path) => {
    const label = path.slice(path.lastIndexOf("/") + 1) || path;
    return { path, label, detail: shortenPath(path), isRepository: repositories.has(path) };
  });
}

export interface AgentOffer {
  entry: CliItem;
  signIn: SignInItem | undefined;
}

export interface Agents {
  here: AgentOffer[];
  missing: AgentOffer[];
}

/** Agents only: a shell is one choice more in the other form. */
export function offerAgents(entries: readonly CliItem[], signIns: readonly SignInItem[]): Agents {
  const offers = entries
    .filter(({ kind, enabled }) => kind === "agent" && enabled)
    .map((entry) => ({ entry, signIn: signIns.find(({ id }) => id === entry.id) }));
  return {
    here: offers.filter(({ entry }) => entry.installed),
    missing: offers.filter(({ entry }) => !entry.installed && entry.installCommand !== undefined),
  };
}

/** Signed in comes before anything else; among equals the service's order counts. */
export function chooseAgent({ here }: Agents, wish: string): string {
  const rank = (offer: AgentOffer) => [true, null, undefined, false].indexOf(offer.signIn?.signedIn);
  if (here.some(({ entry }) => entry.id === wish)) return wish;
  return here.toSorted((a, b) => rank(a) - rank(b))[0]?.entry.id ?? "";
}

/** Whether it is signed in, in words. */
export function describeSignIn(signedIn: boolean | null | undefined): string {
  if (signedIn === undefined) return "";
  if (signedIn === null) return "sign-in not known";
  return signedIn ? "signed in" : "no sign-in found";
}
