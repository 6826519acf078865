// @vitest-environment happy-dom
import { within } from "@testing-library/preact";
import type { ComponentChild } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { PullRequestItem, RepositoryChangesResponse } from "../../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { listViolations, show: showPart } = await import("../../../ui/rendered.ts");
const { api } = await import("../../../api/client.ts");
const { ApiError } = await import("../../../api/errors.ts");
const { canOpen, isSameHere, splitReviewers } = await import("./calls.ts");
const { findAtRow } = await import("./atlines.ts");
const { comments } = await import("../state.ts");
const { openQuestion } = await import("../../../ui/ask.ts");
const { PullRequest } = await import("./PullRequest.tsx");

const COMMIT = "1".repeat(40);
const URL = "https://github.com/ann/clock/pull/7";

const changes = {
  repo: ".",
  name: "clock",
  base: { ref: "origin/main", commit: "0".repeat(40), source: "branch-point" },
  head: { branch: "topic", commit: COMMIT, detached: false },
  files: [{ path: "a.py", kind: ["committed"] }],
  totals: { files: 1, added: 1, removed: 0 },
  truncated: false,
} as unknown as RepositoryChangesResponse;

const comment = { id: "1", author: "bob", text: "Why?", path: "a.py", side: "new", line: 3, url: URL };

const pull: PullRequestItem = {
  number: 7,
  title: "Mend the clock",
  url: URL,
  state: "open",
  base: "main",
  commit: COMMIT,
  review: "approved",
  checks: {
    state: "failed",
    passed: 1,
    running: 0,
    failed: 1,
    failures: [{ name: "lint", url: URL, job: "11" }],
  },
  comments: [comment],
  commentsTruncated: false,
};

const get = vi.spyOn(api, "get");
const post = vi.spyOn(api, "post");

beforeEach(() => {
  get.mockReset();
  post.mockReset();
  comments.value = [];
});

function show(part: ComponentChild) {
  const { container } = showPart(part);
  return { container, ...within(container as HTMLElement) };
}

const answer = (parts: object) => get.mockResolvedValue({ checkedAt: 1, ...parts } as never);

test("state, failed checks and comments of people are shown", async () => {
  answer({ pullRequest: pull });
  const page = show(<PullRequest session="s" changes={changes} />);
  await page.findByText("1 check failed");
  expect(page.getByText("approved")).toBeTruthy();
  expect(page.getByText("lint").closest("a")?.getAttribute("href")).toBe(URL);
  expect(page.queryByTestId("pull-open")).toBeNull();
  expect(await listViolations(page.container)).toEqual([]);
});

test("a comment is taken over at its line", async () => {
  answer({ pullRequest: pull });
  const own = { repo: ".", path: "a.py", text: "bob: Why?" };
  post.mockResolvedValue({ comment: own } as never);
  const page = show(<PullRequest session="s" changes={changes} />);
  (await page.findByTestId("pull-take")).click();
  await page.findByText("Taken over");
  const body = { repo: ".", path: "a.py", side: "new", line: 3, endLine: 3, text: "bob: Why?" };
  expect(post).toHaveBeenCalledWith("/api/sessions/{id}/comments", { path: { id: "s" }, body });
});

test("a comment stands at its line until it is taken over", async () => {
  answer({ pullRequest: pull });
  const row = { kind: "added", text: "", new: 3 } as const;
  const key = { repo: ".", path: "a.py" };
  const page = show(<PullRequest session="s" changes={changes} />);
  await page.findByTestId("pull-take");
  await vi.waitFor(() => expect(findAtRow(key, row)).toEqual([comment]));
  expect(findAtRow(key, { ...row, new: 4 })).toEqual([]);
  expect(findAtRow({ ...key, path: "b.py" }, row)).toEqual([]);
  comments.value = [{ repo: ".", path: "a.py", text: "bob: Why?" }] as never;
  expect(findAtRow(key, row)).toEqual([]);
});

test("the end of a log is read when it is opened", async () => {
  answer({ pullRequest: pull });
  const page = show(<PullRequest session="s" changes={changes} />);
  const summary = await page.findByText("End of the log");
  get.mockResolvedValue({ name: "lint", log: "E  assert 1 == 2" } as never);
  const details = summary.parentElement as HTMLDetailsElement;
  details.open = true;
  details.dispatchEvent(new Event("toggle"));
  await page.findByText("E assert 1 == 2");
  const wanted = { path: { id: "s" }, query: { repo: ".", job: "11" } };
  expect(get.mock.lastCall).toEqual(["/api/sessions/{id}/changes/pull-request/log", wanted]);
  expect(await listViolations(page.container)).toEqual([]);
});

test("failed checks are sent to the agent, and to a busy one after a question with the same id", async () => {
  answer({ pullRequest: pull });
  const page = show(<PullRequest session="s" changes={changes} />);
  post.mockRejectedValueOnce(new ApiError(409, "SESSION_BUSY", "busy"));
  post.mockResolvedValue({ checks: ["lint"], delivered: true, buffered: false } as never);
  (await page.findByTestId("pull-mend")).click();
  await vi.waitFor(() => expect(openQuestion.value).toBeDefined());
  openQuestion.value?.answer("");
  await vi.waitFor(() => expect(post).toHaveBeenCalledTimes(2));
  const [first, second] = post.mock.calls.map(([, wanted]) => (wanted as { body: object }).body);
  expect(first).toMatchObject({ repo: ".", evenWhileBusy: false });
  expect(second).toEqual({ ...first, evenWhileBusy: true });
});

test("reviewers are names in any separation", () => {
  expect(splitReviewers(" @bob, acme/keepers\n eve ")).toEqual(["bob", "acme/keepers", "eve"]);
  expect(splitReviewers("")).toEqual([]);
});

test("a comment is taken over only where its lines are the same", () => {
  expect(isSameHere(comment, pull, changes)).toBe(true);
  expect(isSameHere(comment, { ...pull, commit: "2" }, changes)).toBe(false);
  expect(isSameHere({ ...comment, side: "old" }, pull, changes)).toBe(false);
  const { line: _, ...gone } = comment;
  expect(isSameHere(gone, pull, changes)).toBe(false);
  const files = [{ path: "a.py", kind: ["committed", "unstaged"] }];
  expect(isSameHere(comment, pull, { ...changes, files } as RepositoryChangesResponse)).toBe(false);
});

test("one is opened after a push, with the words of the form", async () => {
  get.mockImplementation(((path: string) =>
    Promise.resolve(
      path.endsWith("/suggestion") ? { title: "Mend", body: "* a" } : { checkedAt: 1 },
    )) as never);
  const page = show(<PullRequest session="s" changes={changes} />);
  (await page.findByTestId("pull-open")).click();
  const form = (await page.findByTestId("pull-form")) as HTMLFormElement;
  expect(await listViolations(page.container)).toEqual([]);
  post.mockResolvedValue({ checkedAt: 2, pullRequest: pull } as never);
  form.requestSubmit();
  await page.findByTestId("pull-state");
  expect(post.mock.calls.map(([path]) => path)).toEqual([
    "/api/sessions/{id}/changes/push",
    "/api/sessions/{id}/changes/pull-request",
  ]);
  const body = { repo: ".", title: "Mend", body: "* a", draft: false, base: null, reviewers: [] };
  expect(post.mock.calls[1]?.[1]).toEqual({ path: { id: "s" }, body });
});

test("a refusal stays in the form", async () => {
  get.mockImplementation(((path: string) =>
    Promise.resolve(path.endsWith("/suggestion") ? { title: "", body: "" } : { checkedAt: 1 })) as never);
  const page = show(<PullRequest session="s" changes={changes} />);
  (await page.findByTestId("pull-open")).click();
  ((await page.findByTestId("pull-form")) as HTMLFormElement).requestSubmit();
  expect((await page.findByTestId("pull-problem")).textContent).toContain("Give it a title.");
  expect(post).not.toHaveBeenCalled();
});

test("nothing is shown without a forge, and without the right", async () => {
  answer({ reason: "no-remote" });
  const page = show(<PullRequest session="s" changes={changes} />);
  await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(1));
  expect(page.container.textContent).toBe("");
  get.mockRejectedValue(new ApiError(403, "FORBIDDEN", "not yours"));
  const other = show(<PullRequest session="other" changes={changes} />);
  await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2));
  expect(other.container.textContent).toBe("");
});

test("a missing sign-in is said", async () => {
  answer({ reason: "not-signed-in" });
  const page = show(<PullRequest session="s" changes={changes} />);
  await page.findByText(/Sign in with gh or glab/);
});

test("the default branch opens none", () => {
  expect(canOpen(changes)).toBe(true);
  expect(canOpen({ ...changes, head: { ...changes.head, branch: "main" } })).toBe(false);
  expect(canOpen({ ...changes, head: { ...changes.head, branch: null } })).toBe(false);
});
