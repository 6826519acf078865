// @vitest-environment happy-dom
import { within } from "@testing-library/preact";
import type { ComponentChild } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { PullRequestItem, RepositoryChangesResponse } from "../../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { listViolations, show: showPart } = await import("../../../ui/rendered.ts");
const { api } = await import("../../../api/client.ts");
const { ApiError } = await import("../../../api/errors.ts");
const { canOpen, isSameHere } = await import("./calls.ts");
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
  checks: { state: "failed", passed: 1, running: 0, failed: 1, failures: [{ name: "lint", url: URL }] },
  comments: [comment],
  commentsTruncated: false,
};

const get = vi.spyOn(api, "get");
const post = vi.spyOn(api, "post");

beforeEach(() => {
  get.mockReset();
  post.mockReset();
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
  post.mockResolvedValue({ comment: {} } as never);
  const page = show(<PullRequest session="s" changes={changes} />);
  (await page.findByTestId("pull-take")).click();
  await page.findByText("Taken over");
  const body = { repo: ".", path: "a.py", side: "new", line: 3, endLine: 3, text: "bob: Why?" };
  expect(post).toHaveBeenCalledWith("/api/sessions/{id}/comments", { path: { id: "s" }, body });
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
  const body = { repo: ".", title: "Mend", body: "* a", draft: false, base: null };
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
