/** The pull requests of sessions, for the list of sessions: what somebody asked for before. */
import { signal } from "@preact/signals";
import { onServerEvent } from "../../../api/stream/events.ts";
import type { PullRequestMarkPayload } from "../../../api/types.ts";
import { plural } from "../../../lib/format.ts";

export const marks = signal<ReadonlyMap<string, readonly PullRequestMarkPayload[]>>(new Map());

/** The review page itself asks more often, about the session that it shows. */
const EVERY_MS = 300_000;
/** Sessions that are asked for in one round. */
const MOST = 20;

const CHECKS: Record<string, string> = { none: "", passed: "checks passed", running: "checks running" };

/** @returns such as "Pull request 7: open, 2 checks failed". */
export function describeMark({ number, state, checks, checksFailed }: PullRequestMarkPayload): string {
  const said = checks === "failed" ? `${plural(checksFailed, "check")} failed` : (CHECKS[checks] ?? "");
  return `Pull request ${number}: ${[state, said].filter((part) => part !== "").join(", ")}`;
}

/** @returns the one that is worth the room of a row: one that is open comes first. */
export const chooseMark = (
  found: readonly PullRequestMarkPayload[] = [],
): PullRequestMarkPayload | undefined => found.find(isOpen) ?? found.at(-1);

const isOpen = ({ state }: PullRequestMarkPayload): boolean => state === "open" || state === "draft";

/** What is merged or closed stays so; the answers come as events. */
export async function refreshMarks(): Promise<void> {
  if (document.hidden) return;
  const open = [...marks.peek()].flatMap(([id, found]) =>
    found.filter(isOpen).map(({ repo }) => ({ id, repo })),
  );
  if (open.length === 0) return;
  // The review page has this code; most pages never need it.
  const calls = await import("./calls.ts").catch(() => undefined);
  for (const { id, repo } of open.slice(-MOST)) {
    // The mark stays as it was where the forge cannot be asked.
    await calls?.readPullRequest(id, repo).catch(() => undefined);
  }
}

/** Follow what the service says for as long as the page lives. */
export function followPullRequests(): void {
  onServerEvent("init", ({ pullRequests }) => {
    marks.value = new Map((pullRequests ?? []).map((each) => [each.id, each.pullRequests]));
  });
  onServerEvent("session:pullRequests", (told) => {
    marks.value = new Map(marks.peek()).set(told.id, told.pullRequests);
  });
  onServerEvent("session:deleted", ({ id }) => {
    const left = new Map(marks.peek());
    if (left.delete(id)) marks.value = left;
  });
  setInterval(() => void refreshMarks(), EVERY_MS);
}
