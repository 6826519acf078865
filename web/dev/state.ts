/** The mock's sessions, settings and event stream (protocol-sessions, protocol-sse, protocol-settings). */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { SESSION } from "../src/api/sample.ts";
import type { ServerResponse } from "node:http";
import type { CliItem, PlanUsagePayload, StatusResponse, Session, Settings } from "../src/api/types.ts";
import { MockApprovals } from "./approvals.ts";
import type { Definition } from "../src/features/cron/jobs/job.ts";
import { type Launcher, type Made, MockCron, ZONE } from "./cron.ts";
import { MockFar } from "./far.ts";
import { MockInput } from "./input.ts";
import { type Hub, MockSession } from "./session.ts";

const RING = 1000;
const PROGRAM = new URL("../../tservice/__init__.py", import.meta.url);
/** As the page is built of: another one would be told of. */
const VERSION = /__version__ = "(.+)"/.exec(readFileSync(PROGRAM, "utf8"))?.[1] ?? "";

export const CLIS: CliItem[] = [
  cli("primary", "Claude Code", "CC", "agent", true),
  cli("codex", "Codex", "CX", "agent", true),
  cli("opencode", "OpenCode", "OC", "agent", false, "npm install -g opencode-ai"),
  cli("gemini", "Gemini", "GM", "agent", false, "npm install -g @google/gemini-cli"),
  cli("shell", "Shell", "SH", "shell", true),
];

function cli(
  id: string,
  label: string,
  shortBadge: string,
  kind: "agent" | "shell",
  installed: boolean,
  installCommand?: string,
): CliItem {
  const entry = { id, label, shortBadge, kind, installed, enabled: true, stock: true, order: 0 };
  return installCommand === undefined ? entry : { ...entry, installCommand };
}

export class MockState implements Hub, Launcher {
  readonly sessions = new Map<string, MockSession>();
  readonly approvals = new MockApprovals(this);
  readonly cron = new MockCron(this, this);
  readonly input = new MockInput();
  readonly far = new MockFar(this);
  readonly pushEndpoints = new Set<string>();
  planUsage: PlanUsagePayload | null = null;
  settings: Partial<Settings> = {
    displayName: "",
    defaultMode: "shell",
    defaultWorkingDir: "/home/demo/work",
    historyLimit: 100_000,
    approvalsInboxEnabled: true,
    showPlanUsageLimits: true,
    notificationPreferences: {
      enabled: false,
      sound: false,
      events: ["permission_prompt", "elicitation_dialog", "idle_prompt"],
    },
  };
  private readonly boot = randomUUID().slice(0, 8);
  private readonly ring: { n: number; text: string }[] = [];
  private readonly clients = new Set<ServerResponse>();
  private count = 0;

  publish(name: string, data: unknown): void {
    const n = ++this.count;
    const text = `event: ${name}\nid: ${this.boot}-${n}\ndata: ${JSON.stringify(data)}\n\n`;
    this.ring.push({ n, text });
    if (this.ring.length > RING) this.ring.shift();
    for (const client of this.clients) client.write(text);
  }

  /** Objects are merged key by key, as the service does. */
  change(body: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(body)) {
      const before: unknown = this.settings[name as keyof Settings];
      const both = typeof value === "object" && !Array.isArray(value) && typeof before === "object";
      this.settings = { ...this.settings, [name]: both ? { ...before, ...value } : value };
    }
  }

  status(): StatusResponse {
    return {
      version: VERSION,
      sessions: [...this.sessions.values()].map((each) => each.record),
      cronJobs: this.cron.jobs.length,
      approvals: this.approvals.list(),
      user: { username: "demo", role: "admin", multiUser: false },
      planUsage: this.planUsage,
      serverTime: Date.now(),
      timeZone: ZONE,
    };
  }

  listen(response: ServerResponse, lastId: string | undefined): void {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    const [boot, n] = (lastId ?? "").split("-");
    if (boot === this.boot) for (const event of this.ring) event.n > Number(n) && response.write(event.text);
    else
      response.write(
        `event: init\nid: ${this.boot}-${this.count}\ndata: ${JSON.stringify(this.status())}\n\n`,
      );
    this.clients.add(response);
    response.on("close", () => this.clients.delete(response));
  }

  heartbeat(): void {
    for (const client of this.clients) client.write(`event: sse:heartbeat\ndata: {"t":${Date.now()}}\n\n`);
  }

  dropStreams(): void {
    for (const client of this.clients) client.destroy();
  }

  add(body: Partial<Session>): MockSession {
    const id = randomUUID();
    const record: Session = {
      ...SESSION,
      id,
      pid: null,
      name: `session ${this.sessions.size + 1}`,
      workingDir: "/home/demo/work",
      createdAt: Date.now(),
      lastActivityAt: Date.now(),
      cols: 120,
      rows: 40,
      ...body,
    };
    const session = new MockSession(record, this);
    this.sessions.set(id, session);
    this.publish("session:created", record);
    return session;
  }

  launch({ agentType, workingDir, name, promptText }: Definition): Made {
    const session = this.add({ mode: agentType, workingDir: workingDir ?? "", name });
    session.run();
    setTimeout(() => session.prompted(promptText ?? ""), 300);
    return session.record;
  }

  others(mode: string, own: ReadonlySet<string>): number {
    const live = [...this.sessions.values()].map((each) => each.record);
    return live.filter((each) => each.mode === mode && each.pid !== null && !own.has(each.id)).length;
  }

  end(id: string): void {
    if (this.sessions.has(id)) this.remove(id);
  }

  remove(id: string): void {
    this.sessions.get(id)?.drop(4009);
    this.approvals.endSession(id);
    this.sessions.delete(id);
    this.publish("session:deleted", { id, at: Date.now() });
  }

  order(order: string[]): void {
    const all = new Map(this.sessions);
    this.sessions.clear();
    for (const id of [...order, ...all.keys()]) {
      const session = all.get(id);
      if (session) this.sessions.set(id, session);
    }
    this.publish("session:orderChanged", { order: [...this.sessions.keys()] });
  }
}
