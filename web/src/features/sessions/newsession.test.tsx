// @vitest-environment happy-dom
/** The form for a new session: the prompt in front, two choices beside it, started by one key. */
import { screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, test } from "vitest";
import { type Answering, FakeService } from "../../api/fakeservice.ts";
import { SESSION } from "../../api/sample.ts";
import type { CliItem } from "../../api/types.ts";
import { createSessionList } from "../../store/sessions.ts";
import { clis, sessionList, settings } from "../../store/state.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { listViolations, show } from "../../ui/rendered.ts";
import { NewSession } from "./NewSession.tsx";
import { newSessionPlace, REMEMBERED_KEY } from "./newsession.ts";

const entry = (id: string, part: Partial<CliItem>): CliItem => ({
  id,
  label: id,
  shortBadge: id.slice(0, 2).toUpperCase(),
  order: 0,
  kind: "agent",
  enabled: true,
  stock: true,
  installed: true,
  ...part,
});

describe("a new session", () => {
  let service: FakeService;
  let created: Answering;

  beforeEach(() => {
    localStorage.clear();
    service = new FakeService();
    clis.value = [
      entry("primary", { label: "Claude Code" }),
      entry("shell", { label: "Shell", kind: "shell" }),
      entry("codex", { label: "Codex", installed: false, installCommand: "npm i codex" }),
    ];
    settings.value = {};
    sessionList.value = createSessionList([]);
    newSessionPlace.value = undefined;
    newSessionOpen.value = true;
    created = service.on("POST /api/sessions", { session: { ...SESSION, mode: "shell" } });
    service.on("GET /api/folder-trust", {
      workingDir: "/w",
      state: "nothing",
      paths: [],
      summary: "",
      missing: 0,
    });
    service.on("GET /api/cases/browse", {
      path: "/w",
      isRepository: true,
      parent: null,
      folders: [],
      truncated: false,
    });
    service.on("GET /api/cases", []);
  });

  const keep = (kept: object) => localStorage.setItem(REMEMBERED_KEY, JSON.stringify(kept));
  const body = () => created.mock.calls[0]?.[0].body as Record<string, unknown>;

  test("begins in the prompt and is started by Ctrl+Enter, with the last choices", async () => {
    keep({ mode: "primary", folders: ["/srv/api"] });
    const { container, user } = show(<NewSession />);
    expect(document.activeElement).toBe(screen.getByTestId("new-prompt"));
    expect(screen.getByTestId("new-place").textContent).toContain("/srv/api");
    expect(await listViolations(container)).toEqual([]);
    await user.keyboard("Fix the login{Enter}form{Control>}{Enter}{/Control}");
    await waitFor(() => expect(created).toHaveBeenCalledTimes(1));
    expect(body()).toMatchObject({ mode: "primary", workingDir: "/srv/api", start: true });
    await waitFor(() => expect(newSessionOpen.value).toBe(false));
  });

  test("no agent is called an agent, and those that are missing tell how to get them", async () => {
    const { user } = show(<NewSession />);
    expect(screen.getByTestId("mode-primary").textContent).toBe("PRClaude Code");
    await user.click(screen.getByTestId("modes-missing"));
    expect(screen.getByTestId("mode-codex").textContent).toContain("npm i codex");
  });

  test("any repository offers its own worktree, whose branch follows the prompt until it is named", async () => {
    keep({ mode: "primary", folders: ["/srv/api"] });
    const { user } = show(<NewSession />);
    await user.click(await screen.findByTestId("worktree"));
    await user.type(screen.getByTestId("new-prompt"), "Fix login");
    const branch = () => screen.getByTestId<HTMLInputElement>("worktree-branch");
    expect(branch().value).toBe("fix-login");
    await user.clear(branch());
    await user.type(branch(), "mine");
    await user.type(screen.getByTestId("new-prompt"), " now");
    expect(branch().value).toBe("mine");
    await user.click(screen.getByTestId("new-start"));
    await waitFor(() => expect(created).toHaveBeenCalled());
    expect(body()).toMatchObject({ workingDir: "/srv/api", worktree: { branch: "mine" } });
    expect(JSON.parse(localStorage.getItem(REMEMBERED_KEY) ?? "")).toMatchObject({ worktrees: ["/srv/api"] });
  });

  test("remembers the worktree of a repository", async () => {
    keep({ mode: "primary", folders: ["/srv/api"], worktrees: ["/srv/api"] });
    show(<NewSession />);
    const box = await screen.findByTestId<HTMLInputElement>("worktree");
    await waitFor(() => expect(box.checked).toBe(true));
    expect(screen.getByTestId<HTMLInputElement>("worktree-branch").value).toMatch(/^agent-\d{4}-\d{4}$/);
  });

  test("a folder that is no repository offers none, nor does one of another machine", async () => {
    const browsed = service.on("GET /api/cases/browse", {
      path: "/w",
      isRepository: false,
      parent: null,
      folders: [],
      truncated: false,
    });
    keep({ mode: "primary", folders: ["/srv/api"] });
    show(<NewSession />);
    await waitFor(() => expect(browsed).toHaveBeenCalled());
    expect(screen.queryByTestId("worktree")).toBeNull();
  });

  test("a shell has no prompt, and is started by the same key", async () => {
    keep({ mode: "shell", folders: [] });
    const { user } = show(<NewSession />);
    expect(screen.queryByTestId("new-prompt")).toBeNull();
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() => expect(created).toHaveBeenCalled());
    expect(body()).toMatchObject({ mode: "shell" });
  });

  test("the folder opens behind its chip, the name behind one line", async () => {
    const { user } = show(<NewSession />);
    expect(screen.queryByTestId("new-folder")).toBeNull();
    await user.click(screen.getByTestId("new-place"));
    await user.type(screen.getByTestId("new-folder"), "/tmp/x");
    expect(screen.getByTestId("new-place").textContent).toContain("/tmp/x");
    await user.click(screen.getByTestId("new-more"));
    await user.type(screen.getByTestId("new-name"), "mine");
    await user.click(screen.getByTestId("new-start"));
    await waitFor(() => expect(body()).toMatchObject({ workingDir: "/tmp/x", name: "mine" }));
  });
});
