// @vitest-environment happy-dom
/** Each page that is a list: before its first answer, without entries, with some, and refused. */
import { screen, waitFor } from "@testing-library/preact";
import type { ComponentType } from "preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../api/errors.ts";
import { FakeService } from "../api/fakeservice.ts";
import type { ContainerHostResponse, Endpoint, RemoteHost } from "../api/types.ts";
import { me } from "../store/me.ts";
import { settings } from "../store/state.ts";
import { listViolations, show } from "../ui/rendered.ts";
import { AuditPage } from "./audit/AuditPage.tsx";
import { CasesPage } from "./cases/CasesPage.tsx";
import { ClisPage } from "./clis/ClisPage.tsx";
import { ContainersPage } from "./containers/ContainersPage.tsx";
import { ConversationsPage } from "./conversations/ConversationsPage.tsx";
import { CronPage } from "./cron/CronPage.tsx";
import { job } from "./cron/jobs/fixtures.ts";
import { DevicesPage } from "./devices/DevicesPage.tsx";
import { DoctorPage } from "./doctor/DoctorPage.tsx";
import { HostsPage } from "./hosts/HostsPage.tsx";
import { McpPage } from "./mcp/McpPage.tsx";
import { ModelsPage } from "./models/ModelsPage.tsx";
import { TokensPage } from "./tokens/TokensPage.tsx";
import { UsersPage } from "./users/UsersPage.tsx";
import { WebTabsPage } from "./webtabs/WebTabsPage.tsx";

type Operation = Parameters<FakeService["on"]>[0];

interface List {
  Page: ComponentType;
  operation: Operation;
  none: unknown;
  some: unknown;
  /** Shown without entries. */
  empty: RegExp;
  /** Shown of an entry. */
  entry: string;
}

const USER = { enabled: true, canBypassPermissions: false, mustChangePassword: false, createdAt: 1 };
const TOKEN = { id: "t", scopes: ["git"], sessions: null, createdAt: 1, expiresAt: null, lastUsedAt: null };
const DEVICE = { id: "d", username: "ann", ip: "192.0.2.7", ua: "curl/8", createdAt: 1, method: "login" };
const ENTRY = { seq: 1, at: 1, actor: "ann", method: "cookie", address: "", target: "", detail: {} };
const HOST: RemoteHost = {
  id: "h",
  label: "build box",
  host: "build.lan",
  username: "ann",
  port: 22,
  extraSshOptions: [],
  commands: {},
};
const ENGINE: ContainerHostResponse = {
  id: "c",
  label: "podman here",
  engine: "podman",
  image: "agents:1",
  network: "none",
  resources: { memory: "4g", cpus: 2, pids: 512 },
  mountCredentials: false,
  hooksEnabled: false,
  extraCreateArgs: [],
  extraExecArgs: [],
};
const ENDPOINT: Endpoint = {
  id: "e",
  label: "llama",
  baseUrl: "http://127.0.0.1:8080",
  apiKeySet: false,
  authStyle: "bearer",
  models: [{ id: "small" }],
  lastDiscoveredAt: null,
};
const CLI = { id: "x", label: "Xylo", shortBadge: "XY", order: 1, kind: "agent", enabled: true, stock: true };
const CASE = { name: "parser", path: "/w/parser", location: "local", linked: false, hasInstructions: true };
const SYNC = { applied: false, conflicts: [], disabled: [], unsupported: [] };
const TARGET = { id: "a", label: "Agent A", file: "/f", status: "ok", servers: [], added: [], skipped: [] };
const DOCTOR = { platform: "Linux", lookedIn: [] };
const SUMMARY = { ok: 1, missing: 0, outdated: 0, skipped: 0, error: 0, requiredMissing: [] };
const TOOL = { id: "tmux", label: "tmux", category: "core", required: true, status: "ok" };

const LISTS: Record<string, List> = {
  tokens: {
    Page: TokensPage,
    operation: "GET /api/tokens",
    none: { tokens: [] },
    some: { tokens: [{ ...TOKEN, name: "nightly" }] },
    empty: /No tokens yet/,
    entry: "nightly",
  },
  users: {
    Page: UsersPage,
    operation: "GET /api/admin/users",
    none: { users: [] },
    some: { users: [{ ...USER, username: "bob", role: "user" }] },
    empty: /0 users/,
    entry: "bob",
  },
  devices: {
    Page: DevicesPage,
    operation: "GET /api/tunnel/status",
    none: { running: false, url: null, sseClients: 0, authSessions: [] },
    some: { running: false, url: null, sseClients: 0, authSessions: [DEVICE] },
    empty: /No password is set/,
    entry: "curl",
  },
  audit: {
    Page: AuditPage,
    operation: "GET /api/admin/audit",
    none: { entries: [] },
    some: { entries: [{ ...ENTRY, action: "login" }] },
    empty: /No entries yet/,
    entry: "ann",
  },
  hosts: {
    Page: HostsPage,
    operation: "GET /api/remote-hosts",
    none: [],
    some: [HOST],
    empty: /No remote hosts yet/,
    entry: "build box",
  },
  containers: {
    Page: ContainersPage,
    operation: "GET /api/container-hosts",
    none: [],
    some: [ENGINE],
    empty: /No container hosts yet/,
    entry: "podman here",
  },
  models: {
    Page: ModelsPage,
    operation: "GET /api/model-endpoints",
    none: [],
    some: [ENDPOINT],
    empty: /No endpoints yet/,
    entry: "llama",
  },
  agents: {
    Page: ClisPage,
    operation: "GET /api/clis",
    none: [],
    some: [{ ...CLI, installed: true }],
    empty: /Only admins/,
    entry: "Xylo",
  },
  "web tabs": {
    Page: WebTabsPage,
    operation: "GET /api/webviews",
    none: { webviews: [] },
    some: { webviews: [{ id: "v", name: "docs", url: "http://h/", owner: "ann", createdAt: 1 }] },
    empty: /Sandboxed/,
    entry: "docs",
  },
  workspaces: {
    Page: CasesPage,
    operation: "GET /api/cases",
    none: [],
    some: [{ ...CASE, liveSessions: 0 }],
    empty: /No workspaces yet/,
    entry: "parser",
  },
  conversations: {
    Page: ConversationsPage,
    operation: "GET /api/history/sessions",
    none: { sessions: [], total: 0 },
    some: { sessions: [{ id: "c", mode: "x", updatedAt: 1, size: 1, turns: 1, title: "Fix it" }], total: 1 },
    empty: /No conversations yet/,
    entry: "Fix it",
  },
  jobs: {
    Page: CronPage,
    operation: "GET /api/cron/jobs",
    none: [],
    some: [job({ name: "every night" })],
    empty: /schedule/i,
    entry: "every night",
  },
  "MCP servers": {
    Page: McpPage,
    operation: "GET /api/mcp-sync",
    none: { ...SYNC, targets: [] },
    some: { ...SYNC, targets: [TARGET] },
    empty: /Check again/,
    entry: "Agent A",
  },
  doctor: {
    Page: DoctorPage,
    operation: "GET /api/doctor",
    none: { ...DOCTOR, summary: SUMMARY, tools: [] },
    some: { ...DOCTOR, summary: SUMMARY, tools: [TOOL] },
    empty: /Check again/,
    entry: "tmux",
  },
};

const SETTINGS = { customModelEndpointsEnabled: true, mcpSyncEnabled: true, cliManagementEnabled: true };

describe.each(Object.entries(LISTS))("the page of %s", (_name, list) => {
  const { Page, operation, none, some, empty, entry } = list;
  let service: FakeService;

  beforeEach(() => {
    service = new FakeService();
    service.on("GET /api/settings", SETTINGS);
    service.on("GET /api/cron/runs", []);
    service.on("GET /api/container-hosts/{id}/build/log", { running: false, lines: [] });
    service.on("GET /api/container-hosts/{id}/containers", { containers: [] });
    service.on("GET /api/clis/file", { path: "/f", entries: [] });
    me.value = { username: "root", role: "admin", mustChangePassword: false, multiUser: true };
    settings.value = SETTINGS;
  });

  test("says that it has no entries only after the answer", async () => {
    let answer: ((found: unknown) => void) | undefined;
    service.on(operation).mockImplementation(() => new Promise((done) => (answer = done)));
    const { container } = show(<Page />);
    if (!/Check again|Sandboxed/.test(empty.source)) expect(container.textContent).not.toMatch(empty);
    await vi.waitFor(() => expect(answer).toBeDefined());
    answer?.(none);
    await waitFor(() => expect(container.textContent).toMatch(empty));
  });

  test("shows its entries, and is accessible", async () => {
    service.on(operation, some);
    const { container } = show(<Page />);
    await waitFor(() => expect(container.textContent).toContain(entry));
    await waitFor(() => expect(container.querySelector("[aria-busy=true]")).toBeNull());
    expect(await listViolations(container)).toEqual([]);
  });

  test("says why it cannot be read", async () => {
    service.on(operation).mockImplementation(() => {
      throw new ApiError(503, "", "The server is restarting.");
    });
    show(<Page />);
    await waitFor(() => {
      const alerts = screen.getAllByRole("alert").map(({ textContent }) => textContent);
      expect(alerts.join()).toContain("The server is restarting.");
    });
  });
});

test("the form of a new entry takes the place of its button, and gives the keyboard back", async () => {
  new FakeService().on("GET /api/tokens", { tokens: [] });
  const { user } = show(<TokensPage />);
  await user.click(screen.getByTestId("new-token"));
  expect(screen.queryByTestId("new-token")).toBeNull();
  expect(document.activeElement).toBe(screen.getByTestId("new-token-name"));
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(document.activeElement).toBe(screen.getByTestId("new-token"));
});
