// @vitest-environment happy-dom
import { waitFor, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { CheckFileResponse } from "../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { listViolations, show } = await import("../../ui/rendered.ts");
const { CheckFile } = await import("./CheckFile.tsx");
const { describeFailurePolicy, describeFile } = await import("./file.ts");

const BROUGHT: CheckFileResponse = {
  state: "unapproved",
  hash: "a".repeat(64),
  text: "checks: []",
  checks: [{ name: "tests", command: "make test", timeoutSeconds: 60, paths: ["src/*"] }],
  onFailure: "send_back",
  maxAttempts: 2,
};
const CHANGED: CheckFileResponse = {
  ...BROUGHT,
  state: "changed",
  hash: "b".repeat(64),
  approvedHash: "a".repeat(64),
  diff: "@@ -1 +1 @@\n-make test\n+make test; id",
};

function open(file: CheckFileResponse, overruled = false) {
  const place = {
    read: vi.fn(async () => file),
    approve: vi.fn(async () => undefined),
    withdraw: vi.fn(async () => undefined),
  };
  const { container } = show(<CheckFile place={place} of="s" overruled={overruled} />);
  return { place, container, ...within(container as HTMLElement) };
}

test("commands are shown, and approved by the hash of what is shown", async () => {
  const page = open(BROUGHT);
  await page.findByText("make test");
  expect(page.queryByTestId("check-file-drop")).toBeNull();
  expect(await listViolations(page.container)).toEqual([]);
  page.getByTestId("check-file-use").click();
  await waitFor(() => expect(page.place.read).toHaveBeenCalledTimes(2));
  expect(page.place.approve).toHaveBeenCalledWith(BROUGHT.hash);
});

test("a change is shown as a diff, and can be approved or left", async () => {
  const page = open(CHANGED);
  const diff = await page.findByTestId("check-file-diff");
  expect([...diff.querySelectorAll("code")].map((each) => each.textContent)).toEqual([
    "@@ -1 +1 @@",
    "removed: make test",
    "added: make test; id",
  ]);
  expect(await listViolations(page.container)).toEqual([]);
  page.getByTestId("check-file-drop").click();
  await waitFor(() => expect(page.place.withdraw).toHaveBeenCalled());
});

test("an invalid file cannot be approved", async () => {
  const page = open({
    state: "invalid",
    hash: "a".repeat(64),
    checks: [],
    problem: "line 1: tags cannot be used",
  });
  await page.findByText("line 1: tags cannot be used");
  expect(page.queryByTestId("check-file-use")).toBeNull();
});

test("it is said that the workspace's own checks are used", async () => {
  await open(BROUGHT, true).findByText(/which are used instead/);
});

test.each([
  [{ state: "none" }, undefined],
  [{ state: "none", approvedHash: "a" }, "This repository brings its checks no more"],
  [{ state: "approved" }, "The checks of this repository are used"],
] as const)("%o is %s", (file, text) => expect(describeFile({ checks: [], ...file })).toBe(text));

test.each([
  [{ onFailure: "notify", maxAttempts: 2 }, "When one fails, you are told."],
  [{ onFailure: "send_back", maxAttempts: 1 }, "When one fails, the agent is asked to repair it, once."],
] as const)("%o: %s", (file, text) => expect(describeFailurePolicy({ ...BROUGHT, ...file })).toBe(text));
