// @vitest-environment happy-dom
/** Each form: filled in and sent, refused by the service, sent once, and left by the keyboard. */
import { screen, waitFor } from "@testing-library/preact";
import type { UserEvent } from "@testing-library/user-event";
import type { ComponentChild } from "preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../api/errors.ts";
import { type Answering, FakeService } from "../api/fakeservice.ts";
import { SESSION } from "../api/sample.ts";
import { me } from "../store/me.ts";
import { clis, settings } from "../store/state.ts";
import { toasts } from "../store/toasts.ts";
import { AskDialog } from "../ui/AskDialog.tsx";
import { askQuestion, openQuestion } from "../ui/ask.ts";
import { listViolations, show } from "../ui/rendered.ts";
import { Login } from "./auth/Login.tsx";
import { PasswordForm } from "./auth/PasswordForm.tsx";
import { CaseHostPane } from "./cases/CaseHostPane.tsx";
import { ClonePane } from "./cases/ClonePane.tsx";
import { CreatePane } from "./cases/CreatePane.tsx";
import { LinkForm } from "./cases/LinkForm.tsx";
import { CliForm } from "./clis/ClisPage.tsx";
import { HostForm as ContainerHostForm } from "./containers/HostForm.tsx";
import { Editor } from "./cron/editor/Editor.tsx";
import { newDraft } from "./cron/editor/draft.ts";
import { job } from "./cron/jobs/fixtures.ts";
import { HostForm } from "./hosts/HostForm.tsx";
import { EndpointForm } from "./models/ModelsPage.tsx";
import { Goals } from "./suggestions/Goals.tsx";
import { ServerSettings } from "./settings/ServerSettings.tsx";
import { marks } from "./settings/saving.ts";
import { NewToken } from "./tokens/TokensPage.tsx";
import { NewUser } from "./users/UsersPage.tsx";
import { WebhookSettings } from "./webhook/WebhookSettings.tsx";
import { WebTabsPage } from "./webtabs/WebTabsPage.tsx";

type Operation = Parameters<FakeService["on"]>[0];

const done = vi.fn();

interface FormCase {
  shown: () => ComponentChild;
  /** What a person types, by the names that tests have for the fields. */
  fields: Record<string, string>;
  /** The button that sends it. */
  send: string;
  operation: Operation;
  answer: unknown;
  /** What the service is sent. */
  body: object;
  /** A refusal, and the words that the form shows of it. */
  refusal: string;
  words?: string;
  /** The field that the refusal stands at, where the form has places at its fields. */
  refused?: string;
}

const CASE = { name: "parser", path: "/w/parser", location: "local", linked: false, liveSessions: 0 };
const WEBHOOK = { enabled: false, kind: "generic", scope: "attention", hasUrl: false, urlMasked: null };
const INTENT = { key: "k", workingDir: "/w", updatedAt: 1, goals: "", recentPrompts: [] };

const FORMS = {
  "a token": {
    shown: () => <NewToken onClose={done} />,
    fields: { "new-token-name": "nightly" },
    send: "new-token-create",
    operation: "POST /api/tokens",
    answer: { token: "secret", record: { id: "t", name: "nightly" } },
    body: { name: "nightly" },
    refusal: "name: is taken",
  },
  "a user": {
    shown: () => <NewUser osUsers onClose={done} />,
    fields: { "new-user-name": "bob", "new-user-os": "bob" },
    send: "new-user-create",
    operation: "POST /api/admin/users",
    answer: { user: { username: "bob" } },
    body: { username: "bob", osUser: "bob", role: "user", canBypassPermissions: false },
    refusal: "User bob exists",
  },
  "an agent": {
    shown: () => <CliForm onClose={done} onMade={done} />,
    fields: {
      "new-cli-label": "Xylo",
      "new-cli-id": "xylo",
      "new-cli-badge": "XY",
      "new-cli-program": "xylo",
    },
    send: "new-cli-create",
    operation: "POST /api/clis",
    answer: {},
    body: { id: "xylo", label: "Xylo" },
    refusal: "id: is taken",
  },
  "a remote host": {
    shown: () => <HostForm onClose={done} onKept={done} />,
    fields: { "host-label": "build box", "host-host": "build.lan", "host-username": "ann" },
    send: "host-save",
    operation: "POST /api/remote-hosts",
    answer: { host: { id: "h" } },
    body: { label: "build box", host: "build.lan", username: "ann", port: 22 },
    refusal: "host: cannot be resolved",
    words: "cannot be resolved",
    refused: "host-host",
  },
  "a container host": {
    shown: () => <ContainerHostForm onClose={done} onKept={done} />,
    fields: { "container-host-label": "podman here" },
    send: "container-host-save",
    operation: "POST /api/container-hosts",
    answer: { host: { id: "c" } },
    body: { label: "podman here", engine: "podman" },
    refusal: "resources.memory: is more than the machine has",
    words: "is more than the machine has",
    refused: "container-host-memory",
  },
  "an endpoint": {
    shown: () => <EndpointForm onClose={done} onKept={done} />,
    fields: { "endpoint-label": "llama", "endpoint-url": "http://127.0.0.1:8080", "endpoint-key": "k" },
    send: "endpoint-save",
    operation: "POST /api/model-endpoints",
    answer: { endpoint: { id: "e" } },
    body: { label: "llama", baseUrl: "http://127.0.0.1:8080", apiKey: "k" },
    refusal: "baseUrl: must be http or https",
  },
  "a web tab": {
    shown: () => <WebTabsPage />,
    fields: { "webtab-url": "http://localhost:5173/", "webtab-name": "docs" },
    send: "webtab-keep",
    operation: "POST /api/webviews",
    answer: { webview: { id: "v", name: "docs", url: "http://localhost:5173/" } },
    body: { url: "http://localhost:5173/", name: "docs" },
    refusal: "url: is not allowed",
  },
  "a linked folder": {
    shown: () => <LinkForm cases={[]} onClose={done} onLinked={done} />,
    fields: { "link-path": "/srv/parser" },
    send: "link-submit",
    operation: "POST /api/cases/link",
    answer: { case: CASE },
    body: { name: "parser", path: "/srv/parser" },
    refusal: "path: folder not found",
    words: "Path: folder not found",
  },
  "a new workspace": {
    shown: () => <CreatePane cases={[]} onMade={done} />,
    fields: { "inline-field": "parser" },
    send: "inline-submit",
    operation: "POST /api/cases",
    answer: { case: CASE },
    body: { name: "parser" },
    refusal: "The disk is full",
  },
  "a clone": {
    shown: () => <ClonePane cases={[]} onMade={done} />,
    fields: { "clone-repository": "https://git.example.org/team/parser.git" },
    send: "clone-start",
    operation: "POST /api/cases/clone",
    answer: { case: CASE, warnings: [] },
    body: { name: "parser", repository: "https://git.example.org/team/parser.git" },
    refusal: "The repository was not found",
  },
  "a workspace on another machine": {
    shown: () => <CaseHostPane cases={[]} onMade={done} onClose={done} />,
    fields: { "case-host-path": "~/src/parser" },
    send: "case-host-create",
    operation: "POST /api/cases/remote-link",
    answer: { case: CASE },
    body: { hostId: "h", name: "parser", remotePath: "~/src/parser" },
    refusal: "remotePath: folder not found",
    words: "Remote path: folder not found",
  },
  "a scheduled job": {
    shown: () => <Editor start={{ draft: newDraft(Date.now(), "UTC", "x", "/w") }} />,
    fields: { "job-name": "every night", "job-promptText": "go on" },
    send: "job-save",
    operation: "POST /api/cron/jobs",
    answer: { job: job() },
    body: { name: "every night", promptText: "go on", workingDir: "/w" },
    refusal: "name: is taken",
    words: "Is taken",
    refused: "job-name",
  },
  goals: {
    shown: () => <Goals session={{ ...SESSION, id: "s" }} />,
    fields: { "goals-text": "ship it" },
    send: "goals-save",
    operation: "PUT /api/sessions/{id}/intent",
    answer: { intent: { ...INTENT, goals: "ship it" } },
    body: { goals: "ship it" },
    refusal: "The disk is full",
  },
  "the webhook": {
    shown: () => <WebhookSettings />,
    fields: { "webhook-url": "https://hooks.example.org/x" },
    send: "webhook-save",
    operation: "PUT /api/webhook",
    answer: { ...WEBHOOK, hasUrl: true, urlMasked: "https://hooks.example.org" },
    body: { url: "https://hooks.example.org/x" },
    refusal: "url: must be https",
    words: "Must be https",
    refused: "webhook-url",
  },
  "a sign-in": {
    shown: () => <Login />,
    fields: { username: "ann", password: "secret word" },
    send: "login-submit",
    operation: "POST /api/login",
    answer: { username: "ann", role: "user", mustChangePassword: false, multiUser: true, key: "k" },
    body: { username: "ann", password: "secret word" },
    refusal: "Try again in 5 minutes",
  },
  "a new password": {
    shown: () => <PasswordForm askCurrent action="Change" onDone={done} />,
    fields: { current: "the old one", new: "my own new word", repeated: "my own new word" },
    send: "password-submit",
    operation: "PUT /api/me/password",
    answer: { key: "k" },
    body: { currentPassword: "the old one", newPassword: "my own new word" },
    refusal: "newPassword: is too common",
    words: "is too common",
  },
} satisfies Record<string, FormCase>;

/** Where a form says what went wrong in a message. */
const ToastText = () => <p>{toasts.value.map(({ text }) => text)}</p>;

const field = (name: string) =>
  screen.queryByTestId(name) ?? document.querySelector<HTMLElement>(`[name="${name}"]`) ?? undefined;

async function fillIn(user: UserEvent, fields: FormCase["fields"]): Promise<void> {
  for (const [name, text] of Object.entries(fields)) {
    const found = await waitFor(() => {
      const each = field(name);
      if (!each) throw new Error(`no field ${name}`);
      return each;
    });
    await user.clear(found);
    // Keys one by one take their time, and what is pasted is heard the same way.
    await user.click(found);
    await user.paste(text);
  }
}

let service: FakeService;

beforeEach(() => {
  done.mockReset();
  service = new FakeService();
  service.on("GET /api/cases/browse", { path: "/w", folders: [], parent: "/" });
  service.on("GET /api/remote-hosts", [{ id: "h", label: "build box" }]);
  service.on("GET /api/container-hosts", []);
  service.on("GET /api/webhook", { ...WEBHOOK, lastResult: null });
  service.on("GET /api/webviews", { webviews: [] });
  service.on("GET /api/sessions/{id}/intent", { intent: null });
  service.on("GET /api/tokens", { tokens: [] });
  service.on("GET /api/admin/users", { users: [] });
  service.on("POST /api/cron/preview", { fires: [] });
  me.value = { username: "root", role: "admin", mustChangePassword: false, multiUser: true };
  settings.value = {};
  clis.value = [
    {
      id: "x",
      label: "Xylo",
      shortBadge: "XY",
      order: 1,
      kind: "agent",
      enabled: true,
      stock: true,
      installed: true,
    },
  ];
});

afterEach(() => {
  openQuestion.value = undefined;
});

describe.each<[string, FormCase]>(Object.entries(FORMS))("the form of %s", (_name, form) => {
  const { shown, fields, send, operation, answer, body, refusal, words = refusal, refused } = form;

  const sent = (of: Answering) => of.mock.calls.map(([asked]) => asked.body);

  test("sends what was filled in, once, and is accessible", async () => {
    let give = (_: unknown) => {};
    const asked = service.on(operation).mockImplementation(() => new Promise((resolve) => (give = resolve)));
    const { container, user } = show(shown());
    await fillIn(user, fields);
    expect(await listViolations(container)).toEqual([]);
    await user.click(screen.getByTestId(send));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(asked).toHaveBeenCalled());
    expect(sent(asked)).toEqual([expect.objectContaining(body)]);
    give(answer);
    await new Promise((settled) => setTimeout(settled));
  });

  test("shows a refusal of the service, and keeps what was typed", async () => {
    service.on(operation).mockImplementation(() => {
      throw new ApiError(400, "INVALID_INPUT", refusal);
    });
    const { container, user } = show(
      <>
        {shown()}
        <ToastText />
      </>,
    );
    await fillIn(user, fields);
    await user.click(screen.getByTestId(send));
    await waitFor(() => expect(container.textContent).toContain(words));
    for (const [name, text] of Object.entries(fields)) expect(field(name)).toHaveProperty("value", text);
    if (refused === undefined) return;
    const wrong = field(refused);
    expect(wrong?.getAttribute("aria-invalid")).toBe("true");
    const problem = document.getElementById(wrong?.getAttribute("aria-describedby") ?? "");
    expect(problem?.textContent).toContain(words);
  });
});

/** Forms with a field to mend before anything is sent, and what they say of it. */
const UNFINISHED: [string, () => ComponentChild, Record<string, string>, string, RegExp][] = [
  ["a token", FORMS["a token"].shown, { "new-token-name": " " }, "new-token-create", /name/],
  ["a user", FORMS["a user"].shown, { "new-user-name": "-ann" }, "new-user-create", /letter/],
  ["an agent", FORMS["an agent"].shown, { "new-cli-label": "Xylo" }, "new-cli-create", /\w/],
  ["an endpoint", FORMS["an endpoint"].shown, { "endpoint-label": "llama" }, "endpoint-save", /\w/],
  ["a remote host", FORMS["a remote host"].shown, { "host-label": "b" }, "host-save", /\w/],
  ["a job", FORMS["a scheduled job"].shown, { "job-name": " " }, "job-save", /\w/],
];

describe.each(UNFINISHED)("an unfinished form of %s", (_name, shown, fields, send, words) => {
  test("says what is to be mended, and sends nothing", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    const { user } = show(shown());
    await fillIn(user, fields);
    fetched.mockClear();
    await user.click(screen.getByTestId(send));
    const alerts = () => screen.getAllByRole("alert").map(({ textContent }) => textContent);
    await waitFor(() => expect(alerts().join("")).toMatch(words));
    const changes = fetched.mock.calls.filter(([, init]) => init?.method !== "GET");
    expect(changes.filter(([url]) => !String(url).includes("preview"))).toEqual([]);
  });
});

describe("the keyboard", () => {
  test.each([
    ["a token", "new-token-name", "POST /api/tokens"],
    ["a remote host", "host-username", "POST /api/remote-hosts"],
    ["a linked folder", "link-path", "POST /api/cases/link"],
    ["a new workspace", "inline-field", "POST /api/cases"],
    ["a clone", "clone-repository", "POST /api/cases/clone"],
    ["a workspace on another machine", "case-host-path", "POST /api/cases/remote-link"],
    ["a sign-in", "password", "POST /api/login"],
  ] as const)("sends %s with Enter", async (name, last, operation) => {
    const { shown, fields, answer } = FORMS[name];
    const asked = service.on(operation, answer);
    const { user } = show(shown());
    await fillIn(user, fields);
    field(last)?.focus();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(asked).toHaveBeenCalledOnce());
  });

  test("begins in the first field, and Cancel is within its reach", async () => {
    const { user } = show(<NewToken onClose={done} />);
    expect(document.activeElement).toBe(field("new-token-name"));
    await user.tab({ shift: true });
    screen.getByRole("button", { name: "Cancel" }).focus();
    await user.keyboard("{Enter}");
    expect(done).toHaveBeenCalledOnce();
  });

  test("goes to the field that the service refused", async () => {
    const { shown, fields, send, operation, refusal } = FORMS["a remote host"];
    service.on(operation).mockImplementation(() => {
      throw new ApiError(400, "INVALID_INPUT", refusal);
    });
    const { user } = show(shown());
    await fillIn(user, fields);
    await user.click(screen.getByTestId(send));
    await waitFor(() => expect(document.activeElement).toBe(field("host-host")));
  });
});

describe("a question", () => {
  const question = { title: "Remove it?", text: "It is gone then.", action: "Remove" } as const;

  test("is answered by its buttons, and is accessible", async () => {
    const { container, user } = show(<AskDialog />);
    const answer = askQuestion(question);
    await user.click(await screen.findByTestId("ask-agree"));
    expect(await answer).toBe("Remove");
    const refusal = askQuestion({ ...question, danger: true });
    const cancel = await screen.findByRole("button", { name: "Cancel" });
    expect(await listViolations(container)).toEqual([]);
    await user.click(cancel);
    expect(await refusal).toBeUndefined();
  });

  test("for a text is answered by Enter", async () => {
    const { user } = show(<AskDialog />);
    const answer = askQuestion({ ...question, input: "line", initial: "old" });
    const input = await screen.findByRole("textbox");
    await user.clear(input);
    await user.type(input, "new{Enter}");
    expect(await answer).toBe("new");
  });
});

describe("a setting", () => {
  beforeEach(() => (marks.value = new Map()));

  test("is saved when its field is left, and can be taken back", async () => {
    const saved = service.on("PUT /api/settings").mockImplementation(({ body }) => body);
    settings.value = { displayName: "old" };
    const { container, user } = show(<ServerSettings />);
    await fillIn(user, { "setting-displayName": "new" });
    await user.tab();
    await user.click(await screen.findByTestId("undo-displayName"));
    await waitFor(() => expect(saved).toHaveBeenCalledTimes(2));
    expect(saved.mock.calls.map(([{ body }]) => body)).toEqual([
      { displayName: "new" },
      { displayName: "old" },
    ]);
    expect(await listViolations(container)).toEqual([]);
  });

  test("that is refused says so at its field", async () => {
    service.on("PUT /api/settings").mockImplementation(() => {
      throw new ApiError(400, "INVALID_INPUT", "displayName: is too long");
    });
    const { user } = show(<ServerSettings />);
    await fillIn(user, { "setting-displayName": "new" });
    await user.tab();
    await waitFor(() => expect(screen.getByTestId("mark-displayName").textContent).toBe(" Is too long."));
    expect(field("setting-displayName")?.getAttribute("aria-invalid")).toBe("true");
  });
});
