// @vitest-environment happy-dom
import { within } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { PullRequestMarkPayload, Session } from "../../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { listViolations, show } = await import("../../../ui/rendered.ts");
const { api } = await import("../../../api/client.ts");
const { chooseMark, describeMark, marks, refreshMarks } = await import("./marks.ts");
const { PullChip, PullMark } = await import("./PullMark.tsx");

const mark = (parts: Partial<PullRequestMarkPayload> = {}): PullRequestMarkPayload => ({
  repo: ".",
  number: 7,
  state: "open",
  checks: "failed",
  checksFailed: 2,
  ...parts,
});
const session = { id: "s", name: "fixer" } as Session;

beforeEach(() => {
  marks.value = new Map();
});

test("a row says the state and the checks in words", async () => {
  marks.value = new Map([["s", [mark()]]]);
  const { container } = show(
    <>
      <PullMark session={session} />
      <PullChip session={session} />
    </>,
  );
  const page = within(container as HTMLElement);
  expect(page.getByTestId("pull-mark").textContent).toBe("#7Pull request 7: open, 2 checks failed");
  expect(page.getByTestId("pull-mark").dataset["tip"]).toBe("Pull request 7: open, 2 checks failed");
  expect(page.getByRole("button", { name: "fixer: Pull request 7: open, 2 checks failed" })).toBeTruthy();
  expect(await listViolations(container)).toEqual([]);
});

test("a row without a known pull request has no mark", () => {
  marks.value = new Map([["s", []]]);
  const { container } = show(<PullMark session={session} />);
  expect(container.textContent).toBe("");
});

test("words follow the state", () => {
  expect(describeMark(mark({ state: "draft", checks: "none" }))).toBe("Pull request 7: draft");
  expect(describeMark(mark({ checks: "running" }))).toBe("Pull request 7: open, checks running");
  expect(describeMark(mark({ state: "merged", checks: "passed" }))).toBe(
    "Pull request 7: merged, checks passed",
  );
});

test("of several the open one is shown", () => {
  const merged = mark({ state: "merged", number: 1 });
  expect(chooseMark([merged, mark(), mark({ state: "closed" })])?.number).toBe(7);
  expect(chooseMark([merged])?.number).toBe(1);
  expect(chooseMark([])).toBeUndefined();
});

test("open ones alone are asked for again, twenty at most, and a refusal changes nothing", async () => {
  const get = vi.spyOn(api, "get").mockRejectedValue(new Error("offline"));
  const many = Array.from({ length: 25 }, (_, at) => [`s${at}`, [mark()]] as const);
  marks.value = new Map([["m", [mark({ state: "merged" })]], ...many]);
  await refreshMarks();
  expect(get).toHaveBeenCalledTimes(20);
  const asked = { path: { id: "s24" }, query: { repo: "." } };
  expect(get.mock.lastCall).toEqual(["/api/sessions/{id}/changes/pull-request", asked]);
  expect(marks.value.size).toBe(26);
});
