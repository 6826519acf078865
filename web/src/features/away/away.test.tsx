// @vitest-environment happy-dom
import { fireEvent, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { AwaySessionResponse } from "../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { api } = await import("../../api/client.ts");
const { activeId } = await import("../../store/state.ts");
const { openPage } = await import("../../ui/pages/registry.ts");
const { show } = await import("../../ui/rendered.ts");
const { AwayBlock } = await import("./AwayBlock.tsx");
const { AwayPage } = await import("./AwayPage.tsx");
const { describeAway, sumAway } = await import("./texts.ts");

const ONE: AwaySessionResponse = {
  id: "a",
  name: "api",
  since: 0,
  turns: 2,
  files: 1,
  commits: 0,
  answered: 0,
  byRule: 0,
  cost: 0.5,
  isBusy: false,
};

const open = (page: preact.VNode, sessions: AwaySessionResponse[], total = sessions.length) => {
  vi.spyOn(api, "get").mockResolvedValue({ sessions, total } as never);
  return within(show(page).container as HTMLElement);
};

beforeEach(() => {
  vi.restoreAllMocks();
  openPage.value = undefined;
  activeId.value = undefined;
});

test("only what happened is said", () => {
  expect(describeAway(ONE)).toBe("2 turns · 1 file · $0.50");
  expect(describeAway({ ...ONE, files: 0, cost: 0.001 })).toBe("2 turns");
});

test("answers of rules and the state of the checks are said", () => {
  const told = { ...ONE, files: 0, cost: 0, checks: "red", answered: 3, byRule: 2 };
  expect(describeAway(told)).toBe("2 turns · checks red · 3 answers, 2 by rules");
  expect(describeAway({ ...told, checks: "cancelled" })).toContain("checks without a result");
});

test("sessions are added up", () => {
  const other = { ...ONE, commits: 3, answered: 2, byRule: 1, checks: "green" };
  expect(sumAway([ONE, other])).toBe("4 turns · 2 files · 3 commits · 2 answers, 1 by rules · $1.00");
});

test("the block shows the first, and leads to the page", async () => {
  const page = open(
    <AwayBlock />,
    ["a", "b", "c", "d"].map((id) => ({ ...ONE, id })),
  );
  expect(await page.findAllByTestId("away-session")).toHaveLength(3);
  fireEvent.click(page.getByTestId("away-all"));
  expect(openPage.value).toBe("away");
});

test("a row of the page opens the session, or its changes", async () => {
  const page = open(<AwayPage />, [ONE, { ...ONE, id: "b", name: "web", files: 0 }], 60);
  const rows = await page.findAllByTestId("away-row");
  expect(page.getByRole("status").textContent).toBe(
    "2 sessions: 4 turns · 1 file · $1.00 · 58 more with fewer turns",
  );
  // A session that changed nothing has nothing to review.
  expect(page.getAllByTestId("away-review")).toHaveLength(1);
  fireEvent.click(page.getByTestId("away-review"));
  expect([activeId.value, openPage.value]).toEqual(["a", "review"]);
  fireEvent.click(within(rows[1] as HTMLElement).getByTestId("away-open"));
  expect([activeId.value, openPage.value]).toEqual(["b", undefined]);
});

test("everything is marked as seen", async () => {
  const page = open(<AwayPage />, [ONE]);
  const post = vi.spyOn(api, "post").mockImplementation(async () => {
    vi.spyOn(api, "get").mockResolvedValue({ sessions: [], total: 0 } as never);
    return {} as never;
  });
  fireEvent.click(await page.findByTestId("away-page-seen"));
  expect(await page.findByText(/^Nothing happened/)).toBeTruthy();
  expect(post).toHaveBeenCalledWith("/api/away/seen");
});

test("a page that cannot be read says why", async () => {
  vi.spyOn(api, "get").mockRejectedValue(new Error("no"));
  const page = within(show(<AwayPage />).container as HTMLElement);
  await waitFor(() => expect(page.getByTestId("away-page-problem")).toBeTruthy());
});
