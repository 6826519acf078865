// @vitest-environment happy-dom
import { within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { RepositoryChangesResponse } from "../../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { listViolations, show } = await import("../../../ui/rendered.ts");
const { api } = await import("../../../api/client.ts");
const { BaseSelect, describeAutomatic, describeTarget, describeTurn, listChoices } =
  await import("./BaseSelect.tsx");

const changes = {
  repo: ".",
  base: { ref: "origin/main", commit: "0", source: "branch-point" },
  head: { branch: "topic", commit: "1", detached: false },
} as unknown as RepositoryChangesResponse;

test("another base is chosen and remembered", async () => {
  const get = vi.spyOn(api, "get");
  get.mockResolvedValue({
    chosen: null,
    branches: ["main", "topic"],
    start: true,
    sessions: [],
    turns: [],
  } as never);
  const put = vi.spyOn(api, "put").mockResolvedValue({} as never);
  const { container, user } = show(<BaseSelect session="s" changes={changes} />);
  const page = within(container as HTMLElement);
  await within(page.getByTestId("review-base")).findByText("main");
  await user.selectOptions(page.getByTestId("review-base"), "main");
  const body = { repo: ".", base: "main" };
  expect(put).toHaveBeenCalledWith("/api/sessions/{id}/changes/base", { path: { id: "s" }, body });
  expect((page.getByTestId("review-base") as HTMLSelectElement).value).toBe("main");
  await user.selectOptions(page.getByTestId("review-base"), "");
  expect(put.mock.lastCall?.[1]).toEqual({ path: { id: "s" }, body: { repo: ".", base: null } });
  expect(await listViolations(container)).toEqual([]);
});

test("the working tree of another session is the base until another one is chosen", async () => {
  const found = {
    chosen: null,
    branches: [],
    start: false,
    sessions: [{ id: "s2", name: "rival" }],
    turns: [],
  };
  const get = vi.spyOn(api, "get").mockResolvedValue(found as never);
  const put = vi
    .spyOn(api, "put")
    .mockReset()
    .mockResolvedValue({} as never);
  const { container, user } = show(<BaseSelect session="s" changes={changes} />);
  const page = within(container as HTMLElement);
  await within(page.getByTestId("review-base")).findByText("Working tree of rival");
  await user.selectOptions(page.getByTestId("review-base"), "session:s2");
  const wanted = { path: { id: "s" }, query: { base: "session:s2" } };
  expect(get).toHaveBeenCalledWith("/api/sessions/{id}/changes", wanted);
  expect((page.getByTestId("review-base") as HTMLSelectElement).value).toBe("session:s2");
  expect(put).not.toHaveBeenCalled();
  await user.selectOptions(page.getByTestId("review-base"), "HEAD");
  expect(get).toHaveBeenCalledWith("/api/sessions/{id}/changes", { path: { id: "s" }, query: {} });
  expect((page.getByTestId("review-base") as HTMLSelectElement).value).toBe("HEAD");
});

test("the end of a turn is the base until another one is chosen", async () => {
  const none = { chosen: null, branches: [], start: false, sessions: [], turns: [] };
  const get = vi.spyOn(api, "get").mockResolvedValue(none as never);
  const { container, user } = show(<BaseSelect session="s" changes={changes} />);
  const select = within(container as HTMLElement).getByTestId<HTMLSelectElement>("review-base");
  const at = Date.now();
  get.mockResolvedValue({ ...none, turns: [{ at }] } as never);
  select.focus();
  await within(select).findByText(describeTurn(at));
  await user.selectOptions(select, `turn:${at}`);
  const wanted = { path: { id: "s" }, query: { base: `turn:${at}` } };
  expect(get).toHaveBeenCalledWith("/api/sessions/{id}/changes", wanted);
  expect(select.value).toBe(`turn:${at}`);
  await user.selectOptions(select, "HEAD");
  expect(select.value).toBe("HEAD");
});

test("the end of a turn on another day has its day", () => {
  const at = new Date(2026, 4, 3, 10, 32).getTime();
  expect(describeTurn(at, at + 1000)).not.toContain("2026");
  expect(describeTurn(at, at + 2 * 24 * 3600 * 1000)).toContain("2026");
});

test("a chosen commit is among the choices", () => {
  const found = { chosen: "abc123", branches: ["main"], start: false, sessions: [], turns: [] };
  expect(listChoices(found, "Automatic", "abc123").map(([name]) => name)).toEqual([
    "",
    "HEAD",
    "main",
    "abc123",
  ]);
});

test("the end of a turn is the target until now is chosen again", async () => {
  const at = Date.now();
  const none = { chosen: null, branches: [], start: false, sessions: [], turns: [{ at }] };
  const get = vi.spyOn(api, "get").mockResolvedValue(none as never);
  const put = vi
    .spyOn(api, "put")
    .mockReset()
    .mockResolvedValue({} as never);
  const { container, user } = show(<BaseSelect session="s" changes={changes} />);
  const page = within(container as HTMLElement);
  const select = page.getByTestId<HTMLSelectElement>("review-target");
  await within(select).findByText(describeTurn(at));
  const read = (query: object) =>
    expect(get).toHaveBeenCalledWith("/api/sessions/{id}/changes", { path: { id: "s" }, query });
  await user.selectOptions(select, `turn:${at}`);
  read({ target: `turn:${at}` });
  get.mockClear();
  // Before the answer to the first choice.
  const base = page.getByTestId("review-base");
  await Promise.all([user.selectOptions(base, `turn:${at}`), user.selectOptions(select, "HEAD")]);
  read({ base: `turn:${at}`, target: "HEAD" });
  await user.selectOptions(select, `turn:${at}`);
  await user.selectOptions(base, "HEAD");
  expect(put).toHaveBeenCalled();
  expect(select.value).toBe(`turn:${at}`);
  expect(await listViolations(container)).toEqual([]);
  get.mockClear();
  await user.selectOptions(select, "");
  read({});
  expect(select.value).toBe("");
});

test("what is compared is said", () => {
  const side = (ref: string | null, source: "turn" | "session" | "named" | "session-start") =>
    describeTarget({ ref, commit: "0", source });
  expect(side("turn:1000", "turn")).toBe(describeTurn(1000));
  expect(side("rival", "session")).toBe("Working tree of rival");
  expect(side("HEAD", "named")).toBe("Last commit");
  expect(side("topic", "named")).toBe("topic");
  expect(side(null, "session-start")).toBe("start of the session");
  expect(describeTarget(undefined)).toBeUndefined();
});

test("what the service chose is said", () => {
  expect(describeAutomatic(changes)).toBe("Automatic: where the branch left origin/main");
  const chosen = { ...changes, base: { ...changes.base, source: "chosen" as const } };
  expect(describeAutomatic(chosen)).toBe("Automatic");
});
