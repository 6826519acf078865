// @vitest-environment happy-dom
/** From nothing to a first agent. */
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { SESSION } from "../../api/sample.ts";
import type { CliItem } from "../../api/types.ts";
import { me } from "../../store/me.ts";
import { clis, settings } from "../../store/state.ts";
import { listViolations, show } from "../../ui/rendered.ts";
import { chooseAgent, describeSignIn, offerAgents, offerFolders } from "./firstrun.ts";
import { FirstPage } from "./FirstPage.tsx";

const CLI: CliItem = {
  id: "primary",
  label: "Claude Code",
  shortBadge: "CC",
  order: 10,
  kind: "agent",
  enabled: true,
  stock: true,
  installed: true,
  version: "2.1.197",
  installCommand: "npm install -g claude",
};
const CODEX: CliItem = { ...CLI, id: "codex", label: "Codex", shortBadge: "CX", order: 20 };
const SHELL: CliItem = { ...CLI, id: "shell", label: "Shell", kind: "shell", order: 30 };
const REPOSITORY = { name: "orchard", path: "/home/ann/src/orchard", usedAt: 1 };
const signIn = (id: string, signedIn: boolean | null) => ({ id, signedIn, command: `${id} login` });

describe("the choice", () => {
  test("is the last one, then one that is signed in, then one that may be", () => {
    const states = [signIn("primary", false), signIn("codex", null)];
    const agents = offerAgents([CLI, CODEX, SHELL], states);
    expect(agents.here.map(({ entry }) => entry.id)).toEqual(["primary", "codex"]);
    expect(chooseAgent(agents, "")).toBe("codex");
    expect(chooseAgent(agents, "primary")).toBe("primary");
    expect(chooseAgent(offerAgents([CLI, CODEX], [signIn("primary", true)]), "")).toBe("primary");
    expect(chooseAgent(offerAgents([], []), "codex")).toBe("");
  });

  test("offers what is installed, what can be, and nothing that was switched off", () => {
    const { installCommand: _, ...bare } = CODEX;
    const agents = offerAgents(
      [
        { ...CLI, enabled: false },
        { ...CODEX, installed: false },
        { ...bare, id: "agy", installed: false },
      ],
      [],
    );
    expect(agents.here).toEqual([]);
    expect(agents.missing.map(({ entry }) => entry.id)).toEqual(["codex"]);
  });

  test("has folders used before first, each once, and not too many", () => {
    const found = Array.from({ length: 9 }, (_, at) => ({ name: `r${at}`, path: `/h/r${at}`, usedAt: at }));
    const offers = offerFolders(["/h/r3", "/elsewhere"], found);
    expect(offers.map(({ path }) => path)).toEqual([
      "/h/r3",
      "/elsewhere",
      "/h/r0",
      "/h/r1",
      "/h/r2",
      "/h/r4",
    ]);
    expect(offers.map(({ isRepository }) => isRepository).slice(0, 3)).toEqual([true, false, true]);
  });

  test.each([
    [true, "signed in"],
    [false, "no sign-in found"],
    [null, "sign-in not known"],
    [undefined, ""],
  ])("says of %s: %s", (state, words) => expect(describeSignIn(state)).toBe(words));
});

describe("the page", () => {
  let service: FakeService;

  function open(entries: CliItem[], managed = false): void {
    clis.value = entries;
    settings.value = {};
    service.on("GET /api/settings").mockReturnValue({ cliManagementEnabled: managed });
    service.on("GET /api/clis").mockReturnValue(entries);
    show(<FirstPage />);
  }

  beforeEach(() => {
    localStorage.clear();
    me.value = { username: "ann", role: "admin", mustChangePassword: false, multiUser: false };
    service = new FakeService();
    service.on("GET /api/clis/file").mockReturnValue({ path: "/d/clis.json", entries: [] });
    service.on("GET /api/clis/sign-in").mockReturnValue([signIn("primary", true), signIn("codex", false)]);
    service.on("GET /api/cases/repositories").mockReturnValue({ repositories: [REPOSITORY] });
    service.on("GET /api/folder-trust").mockReturnValue({ state: "nothing", paths: [], missing: 0 });
    const { value } = me;
    service.on("GET /api/me").mockReturnValue({ ...value, signedIn: false, canSetPassword: true });
  });

  test("starts the agent in the repository, without a word typed", async () => {
    const made = service.on("POST /api/sessions").mockReturnValue({ session: SESSION });
    service.on("POST /api/sessions/{id}/input").mockReturnValue({ delivered: true });
    open([CLI, CODEX]);
    await screen.findByText("orchard");
    await waitFor(() => expect(screen.getByTestId("first-agent-primary").textContent).toContain("signed in"));
    fireEvent.click(screen.getAllByTestId("first-example")[0] as HTMLElement);
    expect(screen.getByTestId("first-prompt")).toHaveProperty("value", expect.stringContaining("explain"));
    fireEvent.click(screen.getByTestId("first-start"));
    await waitFor(() => expect(made).toHaveBeenCalledOnce());
    const [{ body }] = made.mock.calls[0] as [{ body: object }];
    expect(body).toMatchObject({ mode: "primary", workingDir: REPOSITORY.path, start: true });
  });

  test("opens a terminal with the agent's own sign-in", async () => {
    const made = service.on("POST /api/sessions").mockReturnValue({ session: { ...SESSION, mode: "shell" } });
    const typed = service.on("POST /api/sessions/{id}/input").mockReturnValue({ delivered: true });
    open([CLI, CODEX]);
    fireEvent.click(await screen.findByRole("button", { name: "Sign in to Codex in a terminal" }));
    await waitFor(() => expect(typed).toHaveBeenCalledOnce());
    expect(made.mock.calls[0]?.[0].body).toEqual({ mode: "shell", start: true, name: "Sign in to Codex" });
    expect(typed.mock.calls[0]?.[0].body.input).toContain("codex login");
  });

  test("copies the command of a missing agent, and runs it where that is allowed", async () => {
    const missing = { ...CODEX, installed: false };
    open([missing]);
    await screen.findByTestId("first-copy");
    expect(screen.getByTestId("first-start")).toHaveProperty("disabled", true);
    expect(screen.queryByTestId("first-install")).toBeNull();
    expect(await screen.findByTestId("first-manage")).toBeTruthy();
  });

  test("offers to install where changes are allowed", async () => {
    open([{ ...CODEX, installed: false }], true);
    expect(await screen.findByTestId("first-install")).toBeTruthy();
  });

  test("says that nobody has to sign in, and is accessible", async () => {
    open([CLI, CODEX, { ...CODEX, id: "gemini", label: "Gemini CLI", installed: false }]);
    await screen.findByText("orchard");
    expect((await screen.findByTestId("first-open")).textContent).toContain("No password is set");
    expect(await listViolations(document.body)).toEqual([]);
  });
});
