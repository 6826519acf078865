// @vitest-environment happy-dom
/** Lists and forms that are parts of a page. */
import { screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../api/errors.ts";
import { FakeService } from "../api/fakeservice.ts";
import { SESSION } from "../api/sample.ts";
import type { ContainerResponse, GitStatusResponse, RemoteHost, TunnelStatusAnswer } from "../api/types.ts";
import { createSessionList } from "../store/sessions.ts";
import { activeId, sessionList, settings } from "../store/state.ts";
import { listViolations, show } from "../ui/rendered.ts";
import { FolderList } from "./cases/Picker.tsx";
import { Worktree } from "./cases/Worktree.tsx";
import { ContainerCard } from "./containers/ContainerCard.tsx";
import { TreePane } from "./files/TreePane.tsx";
import { GitChip } from "./git/Badge.tsx";
import { GitPage } from "./git/GitPage.tsx";
import { answers } from "./git/state.ts";
import { RemoteTmuxSessions } from "./hosts/RemoteTmuxSessions.tsx";
import { ModelField } from "./models/ModelField.tsx";
import { NotificationSettings } from "./notifications/NotificationSettings.tsx";
import { RestorePage } from "./restore/RestorePage.tsx";
import { offer } from "./restore/state.ts";
import { marks } from "./settings/saving.ts";
import { SuggestionsHost } from "./suggestions/SuggestionsHost.tsx";
import { requestSuggestions } from "./suggestions/state.ts";
import { currentView } from "./terminal/current.ts";
import type { TerminalView } from "./terminal/view.ts";
import { KeyBar } from "./touch/KeyBar.tsx";
import { coarse } from "./touch/state.ts";
import { QrPanel } from "./tunnel/QrPanel.tsx";
import { VoiceSettings } from "./voice/VoiceSettings.tsx";

const HOST: RemoteHost = {
  id: "h",
  label: "build box",
  host: "build.lan",
  username: "ann",
  port: 22,
  extraSshOptions: [],
  commands: {},
};
const GIT_STATUS: GitStatusResponse = {
  state: "ok",
  repos: [
    {
      name: "w",
      path: ".",
      status: {
        state: "ok",
        branch: "main",
        detached: false,
        commit: "0123456789abcdef",
        upstream: "origin/main",
        ahead: 1,
        behind: 0,
        hasRemote: true,
        upstreamGone: false,
        counts: { staged: 1, unstaged: 0, untracked: 0, conflicted: 0, uncommitted: 1, stashes: 0 },
        files: [],
        filesTruncated: false,
        unpushedCount: 0,
        unpushed: [],
        repoRoot: "/w",
        checkedAt: 1,
      },
    },
  ],
  reposTruncated: false,
  checkedAt: 1,
};
const SESSION_PATH = "/api/sessions/{id}";

let service: FakeService;

const refuse = (text: string) => () => {
  throw new ApiError(503, "", text);
};

beforeEach(() => {
  service = new FakeService();
  settings.value = {};
  marks.value = new Map();
  sessionList.value = createSessionList([{ ...SESSION, id: "s", name: "one" }]);
  activeId.value = "s";
});

describe("the tree of files", () => {
  const entry = (name: string, type: string) => ({ name, path: name, type, size: 1, mtimeMs: 1 });
  const tree = (...names: string[]) => ({ root: "/w", tree: names.map((name) => entry(name, "file")) });

  test("lists what is there, and reads again when that is asked for", async () => {
    const read = service.on(`GET ${SESSION_PATH}/files`, { ...tree("notes.md"), truncated: false });
    const { container, user } = show(<TreePane id="s" />);
    await waitFor(() => expect(container.textContent).toContain("notes.md"));
    expect(await listViolations(container)).toEqual([]);
    read.mockReturnValue({ ...tree("later.md"), truncated: false });
    await user.click(screen.getByRole("button", { name: /refresh|again/i }));
    await waitFor(() => expect(container.textContent).toContain("later.md"));
  });

  test("says why it cannot be read", async () => {
    service.on(`GET ${SESSION_PATH}/files`).mockImplementation(refuse("The folder is gone."));
    const { container } = show(<TreePane id="s" />);
    await waitFor(() => expect(container.textContent).toContain("The folder is gone."));
  });
});

describe("what is always on the page", () => {
  test("the keys of a phone are named by what they show", async () => {
    coarse.value = true;
    currentView.value = {} as TerminalView;
    const { container } = show(<KeyBar />);
    expect(screen.getByTestId("key-Interrupt").textContent).toBe("^C");
    expect(await listViolations(container)).toEqual([]);
    coarse.value = false;
    currentView.value = undefined;
  });

  test("so is what git says of a session", async () => {
    answers.value = new Map([["s", { at: 1, status: GIT_STATUS }]]);
    const { container } = show(<GitChip session={{ ...SESSION, id: "s" }} />);
    await waitFor(() => expect(screen.getByTestId("git-chip").textContent).toContain("main"));
    expect(await listViolations(container)).toEqual([]);
  });
});

describe("the changes of a workspace", () => {
  test("say that there is no repository, and why they cannot be read", async () => {
    answers.value = new Map([
      ["s", { at: 1, status: { state: "not-a-repo", repos: [], reposTruncated: false, checkedAt: 1 } }],
    ]);
    const { container } = show(<GitPage />);
    await waitFor(() => expect(container.textContent).toMatch(/repository|repositories/i));
    expect(await listViolations(container)).toEqual([]);
    answers.value = new Map([["s", { at: 1, problem: "git: timed out" }]]);
    await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("git: timed out"));
  });
});

describe("the tmux sessions of a host", () => {
  const LIST = "GET /api/remote-hosts/{id}/sessions";

  test("are listed when they are asked for", async () => {
    service.on(LIST, {
      sessions: [{ name: "work", attached: 0, created: 1, windows: 1, cols: 80, rows: 24 }],
    });
    const { container, user } = show(<RemoteTmuxSessions host={HOST} />);
    await user.click(screen.getByTestId("tmux-sessions"));
    await waitFor(() => expect(screen.getByTestId("tmux-session").textContent).toContain("work"));
    expect(await listViolations(container)).toEqual([]);
  });

  test("are none, or cannot be read", async () => {
    const list = service.on(LIST, { sessions: [] });
    const { container, user } = show(<RemoteTmuxSessions host={HOST} />);
    await user.click(screen.getByTestId("tmux-sessions"));
    await waitFor(() => expect(container.textContent).toContain("no tmux sessions"));
    list.mockImplementation(refuse("The host does not answer."));
    await user.click(screen.getByTestId("tmux-sessions"));
    await waitFor(() => expect(container.textContent).toContain("The host does not answer."));
  });
});

describe("the sessions to restore", () => {
  const LOST = { id: "l", name: "lost one", workingDir: "/w", mode: "x", lastActivityAt: 1 };

  test("are listed, and restored one by one", async () => {
    const restore = service.on("POST /api/reboot-restore/restore", { restored: 1, skipped: 0, entries: [] });
    service.on("GET /api/reboot-restore", { sessions: [], expiresAt: null, restoring: false });
    const sessions = [{ ...LOST, resumes: true, scrollback: false }];
    offer.value = { sessions, expiresAt: null, restoring: false };
    const { container, user } = show(<RestorePage />);
    expect(container.textContent).toContain("lost one");
    expect(await listViolations(container)).toEqual([]);
    await user.click(screen.getByTestId("restore-one"));
    await waitFor(() => expect(restore.mock.lastCall?.[0].body).toEqual({ sessionIds: ["l"] }));
    await waitFor(() => expect(screen.getByTestId("restore-none")).toBeDefined());
  });
});

describe("suggestions", () => {
  test("are shown, and why there are none", async () => {
    const ask = service.on(`POST ${SESSION_PATH}/readmymind`, {
      suggestions: [{ prompt: "run the tests", why: "they failed", kind: "verify" }],
      durationMs: 5,
    });
    settings.value = { readMyMindEnabled: true, readMyMindModes: [SESSION.mode] };
    const { container } = show(<SuggestionsHost session={{ ...SESSION, id: "s" }} />);
    await requestSuggestions("s");
    await waitFor(() => expect(container.textContent).toContain("run the tests"));
    expect(await listViolations(container)).toEqual([]);
    ask.mockImplementation(refuse("Claude Code is not signed in."));
    await requestSuggestions("s");
    await waitFor(() => expect(container.textContent).toContain("Claude Code is not signed in."));
  });
});

describe("folders for a new session", () => {
  test("are those used before and those at home", async () => {
    service.on("GET /api/cases/browse", {
      path: "/h",
      folders: [{ name: "src", path: "/h/src", isRepo: true }],
    });
    let chosen = "";
    const { container, user } = show(
      <FolderList
        recent={["/w/parser"]}
        cases={[]}
        chosen={{ workingDir: "", caseName: "" }}
        onChoose={({ path }) => (chosen = path)}
      />,
    );
    const [first] = await screen.findAllByTestId("place");
    expect(await listViolations(container)).toEqual([]);
    if (first) await user.click(first);
    expect(chosen).toBe("/w/parser");
  });

  test("may be a worktree of their own, whose branch goes with the choice", async () => {
    const branches: string[] = [];
    const { container, user } = show(
      <Worktree branch="" suggested="work" onBranch={(each) => branches.push(each)} />,
    );
    await user.click(screen.getByTestId("worktree"));
    await user.click(screen.getByTestId("worktree-branch"));
    await user.paste("fix/login");
    expect(await listViolations(container)).toEqual([]);
    await user.click(screen.getByTestId("worktree"));
    expect(branches).toEqual(["work", "fix/login", ""]);
  });

  test("may have a model of an endpoint", async () => {
    const models = [{ id: "small" }, { id: "large" }];
    const endpoint = { id: "e", label: "llama", models, defaultModelId: "large" };
    service.on("GET /api/model-endpoints", [endpoint]);
    let chosen: unknown;
    const { container, user } = show(<ModelField chosen={undefined} onChoose={(each) => (chosen = each)} />);
    const select = await screen.findByTestId("new-model");
    expect(await listViolations(container)).toEqual([]);
    await user.selectOptions(select, "e small");
    expect(chosen).toEqual({ endpointId: "e", modelId: "small" });
  });
});

describe("the container of a workspace", () => {
  const BOX: ContainerResponse = {
    name: "c",
    caseName: "parser",
    hostId: "h",
    state: "running",
    image: "agents:1",
    network: "none",
    created: 1,
    limits: { memory: 4 * 2 ** 30, cpus: 2, pids: 512 },
  };

  test("is shown, and says why it cannot be", async () => {
    const read = service.on("GET /api/cases/{name}/container", BOX);
    const { container } = show(<ContainerCard caseName="parser" />);
    await waitFor(() => expect(screen.getByTestId("container-recreate")).toHaveProperty("disabled", false));
    expect(await listViolations(container)).toEqual([]);
    read.mockImplementation(refuse("podman does not answer."));
    show(<ContainerCard caseName="other" />);
    await waitFor(() => expect(document.body.textContent).toContain("podman does not answer."));
  });
});

describe("the tunnel", () => {
  const OFF = { running: false, url: null, sseClients: 0, authSessions: [] } as unknown as TunnelStatusAnswer;

  test("that does not start says why", async () => {
    const start = service.on("POST /api/tunnel/start").mockImplementation(refuse("tunnel: no address"));
    service.on("GET /api/tunnel/status", OFF);
    const { container, user } = show(<QrPanel status={OFF} />);
    expect(await listViolations(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: /start/i }));
    await waitFor(() => expect(container.textContent).toContain("tunnel: no address"));
    expect(start).toHaveBeenCalledOnce();
  });
});

describe("settings of dictation", () => {
  const VOICE = { provider: "auto", apiKeySet: false, language: "en", keyterms: [] };

  test("are saved field by field, and a refusal stands there", async () => {
    settings.value = { primaryVoiceEnabled: true, voiceSettings: VOICE };
    const save = service.on("PUT /api/settings").mockImplementation(() => settings.peek());
    const { container, user } = show(<VoiceSettings />);
    await user.clear(screen.getByTestId("voice-language"));
    await user.click(screen.getByTestId("voice-language"));
    await user.paste("de-CH");
    await user.tab();
    await waitFor(() =>
      expect(save.mock.lastCall?.[0].body).toEqual({ voiceSettings: { language: "de-CH" } }),
    );
    expect(await listViolations(container)).toEqual([]);
    save.mockImplementation(refuse("voiceSettings.keyterms: too many."));
    await user.click(screen.getByTestId("voice-words"));
    await user.paste("tservice");
    await user.tab();
    await waitFor(() => expect(container.textContent).toContain("too many"));
  });
});

describe("settings of notifications", () => {
  test("are saved as they change", async () => {
    const save = service.on("PUT /api/settings").mockImplementation(() => settings.peek());
    const { container, user } = show(<NotificationSettings />);
    expect(await listViolations(container)).toEqual([]);
    const boxes = screen.getAllByRole("checkbox").filter((each) => !(each as HTMLInputElement).disabled);
    const [first] = boxes.length > 0 ? boxes : screen.getAllByRole("switch");
    if (first) await user.click(first);
    await waitFor(() => expect(save).toHaveBeenCalled());
  });
});
