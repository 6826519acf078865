/** The pull request of a branch, through the user's own gh or glab. */
import { api } from "../../../api/client.ts";
import { ApiError } from "../../../api/errors.ts";
import type {
  ForgeCommentItem,
  PullRequestItem,
  PullRequestResponse,
  RepositoryChangesResponse,
} from "../../../api/types.ts";
import { plural } from "../../../lib/format.ts";

export interface Draft {
  title: string;
  body: string;
  base: string;
  draft: boolean;
  reviewers: string;
}

/** @returns undefined when this person may not drive the session. */
export async function readPullRequest(
  id: string,
  repo: string,
  signal?: AbortSignal,
): Promise<PullRequestResponse | undefined> {
  try {
    const query = { repo };
    return await api.get("/api/sessions/{id}/changes/pull-request", {
      path: { id },
      query,
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

export async function suggestDraft(id: string, repo: string): Promise<Draft> {
  const query = { repo };
  const path = { id };
  const found = await api.get("/api/sessions/{id}/changes/pull-request/suggestion", { path, query });
  return { ...found, base: "", draft: false, reviewers: "" };
}

export async function readLog(id: string, repo: string, job: string): Promise<string> {
  const query = { repo, job };
  return (await api.get("/api/sessions/{id}/changes/pull-request/log", { path: { id }, query })).log;
}

/** @returns names that are separated by spaces or commas, with or without an at sign. */
export const splitReviewers = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((name) => name.replace(/^@/, ""))
    .filter((name) => name !== "");

/** The branch is pushed first: a forge opens a pull request only of what it has. */
export async function openPullRequest(id: string, repo: string, wanted: Draft): Promise<PullRequestResponse> {
  await api.post("/api/sessions/{id}/changes/push", { path: { id }, body: { repo, setUpstream: true } });
  const { title, body, draft } = wanted;
  const base = wanted.base.trim() || null;
  return api.post("/api/sessions/{id}/changes/pull-request", {
    path: { id },
    body: { repo, title, body, draft, base, reviewers: splitReviewers(wanted.reviewers) },
  });
}

const REASONS = {
  "no-branch": "",
  "no-remote": "",
  "no-grant": "",
  "not-installed": "",
  "not-signed-in": "Sign in with gh or glab in the session's shell to see the pull request.",
  failed: "Couldn't read the pull request.",
} as const;

/** @returns words for a state that is unknown; empty where there is nothing to say. */
export const describeReason = ({ reason, message }: PullRequestResponse): string =>
  reason === undefined ? "" : [REASONS[reason], message].filter(Boolean).join(" ");

export function describeChecks({ checks }: PullRequestItem): string {
  switch (checks.state) {
    case "none":
      return "";
    case "passed":
      return `${plural(checks.passed, "check")} passed`;
    case "running":
      return `${plural(checks.running, "check")} running`;
    case "failed":
      return `${plural(checks.failed, "check")} failed`;
  }
}

export const REVIEWS = {
  none: "",
  required: "review required",
  approved: "approved",
  "changes-requested": "changes requested",
} as const;

/** Whether a branch can get a pull request: it is another one than the base's. */
export function canOpen({ base, head }: RepositoryChangesResponse): boolean {
  const name = base.ref?.replace(/^[^/]+\//, "");
  return head.branch !== null && head.branch !== base.ref && head.branch !== name && head.commit !== null;
}

/** Whether the lines of a comment are the same here, so that it can stand at its line. */
export function isSameHere(
  comment: ForgeCommentItem,
  pull: PullRequestItem,
  found: RepositoryChangesResponse,
): boolean {
  if (comment.line === undefined || comment.side !== "new" || found.head.commit !== pull.commit) return false;
  const file = found.files.find(({ path }) => path === comment.path);
  return file?.kind.every((kind) => kind === "committed") === true;
}
