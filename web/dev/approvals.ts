/** The mock's inbox: what waits, how it is answered, and trouble on demand (protocol-approvals). */
import type { ApprovalItemResponse, ItemKind } from "../src/features/approvals/item.ts";
import { Refused } from "./refused.ts";
import type { Hub } from "./session.ts";

const PERMISSION = [
  "● Bash(npm run migrate -- --env staging)",
  "  ⎿  Running…",
  "",
  "╭──────────────────────────────────────────────────────────────╮",
  "│ Bash command                                                 │",
  "│                                                              │",
  "│   npm run migrate -- --env staging                           │",
  "│   Apply the pending migrations to the staging database       │",
  "│                                                              │",
  "│ Do you want to proceed?                                      │",
  "│ ❯ 1. Yes                                                     │",
  "│   2. Yes, and don't ask again for npm run migrate commands   │",
  "│   3. No, and tell the agent what to do differently (esc)     │",
  "╰──────────────────────────────────────────────────────────────╯",
].join("\n");

const MULTIPLE = [
  " ☐ Checks   ✔ Submit",
  "",
  "Which checks should run before each commit?",
  "",
  "❯ 1. [✔] Type check",
  "  2. [ ] Unit tests",
  "  3. [ ] Formatter",
  "  4. [ ] Type something",
  "",
  "Enter to select · Tab/Arrow keys to navigate · Esc to cancel",
].join("\n");

const QUESTION = [
  "Which database should the billing service use?",
  "",
  "❯ 1. PostgreSQL",
  "     what the other services run on",
  "  2. SQLite",
  "     one file, no server",
  "  3. Type something.",
  "",
  "Enter to select · Esc to cancel",
].join("\n");

const option = (label: string, index: number) => ({ n: index + 1, label, selected: index === 0 });

type Shape = Pick<ApprovalItemResponse, "kind" | "frame"> & Partial<ApprovalItemResponse>;

const SHAPES: Record<string, Shape> = {
  permission: {
    kind: "permission",
    frame: "f-permission",
    toolName: "Bash",
    toolSummary: "npm run migrate -- --env staging",
    complete: true,
    message: "The agent needs your permission to use Bash",
    context: PERMISSION,
    options: [
      "Yes",
      "Yes, and don't ask again for npm run migrate commands",
      "No, and tell the agent what to do differently",
    ].map(option),
  },
  question: {
    kind: "question",
    frame: "f-question",
    toolName: "AskUserQuestion",
    message: "Which database should the billing service use?",
    context: QUESTION,
    options: ["PostgreSQL", "SQLite", "Type something.", "Chat about this"].map(option),
  },
  multiple: {
    kind: "question",
    frame: "f-multiple",
    toolName: "AskUserQuestion",
    context: MULTIPLE,
    options: ["Type check", "Unit tests", "Formatter", "Type something"].map(option),
  },
  blind: {
    kind: "permission",
    frame: "f-blind",
    toolName: "Edit",
    toolSummary: "src/parser.ts",
    complete: true,
  },
  plan: {
    kind: "permission",
    frame: "f-plan",
    toolName: "ExitPlanMode",
    dialog: "plan",
    plan: "# Move the login\n\n1. Look at `login.py`\n2. Change **one** line\n",
    complete: false,
    toolOther: ["plan"],
    message: "Claude has written up a plan and is ready to execute. Would you like to proceed?",
    context: "Ready to code?",
    options: ["Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"].map(
      option,
    ),
  },
  trust: {
    kind: "permission",
    frame: "f-trust",
    dialog: "trust",
    complete: false,
    message: "Trust this folder? Codex can read, edit, and run files here.",
    context: "Folder access\n/home/demo/work",
    options: ["Trust and continue", "Back to Agent Command Center"].map(option),
  },
  idle: { kind: "idle", frame: "idle", message: "The agent is waiting for your input" },
};

export class MockApprovals {
  items: ApprovalItemResponse[] = [];
  /** What happens to the next answer: a status of protocol-approvals; 0 means it is taken. */
  nextStatus = 0;
  answers: unknown[] = [];
  private count = 0;
  private readonly hub: Hub;

  constructor(hub: Hub) {
    this.hub = hub;
  }

  raise(shape: string, session: { id: string; name: string }, ageMs = 0): ApprovalItemResponse {
    const about = SHAPES[shape] ?? SHAPES["permission"];
    if (!about) throw new Refused(400, "INVALID_INPUT", `kind: no ${shape}`);
    const before = this.items.find((item) => item.sessionId === session.id);
    if (before) this.resolve(before, "superseded");
    const item: ApprovalItemResponse = {
      id: `${session.id}:${++this.count}`,
      sessionId: session.id,
      sessionName: session.name,
      createdAt: Date.now() - ageMs,
      cwd: "/home/demo/work",
      ...about,
    };
    this.items.push(item);
    this.hub.publish("approval:pending", item);
    return item;
  }

  resolve(item: ApprovalItemResponse, resolution: string): void {
    this.items = this.items.filter((other) => other !== item);
    const { id, sessionId, kind } = item;
    this.hub.publish("approval:resolved", { id, sessionId, kind, resolution });
  }

  list(): ApprovalItemResponse[] {
    return this.items.toSorted((a, b) => a.createdAt - b.createdAt);
  }

  private find(id: string): ApprovalItemResponse {
    const item = this.items.find((other) => other.id === id);
    if (!item) throw new Refused(404, "NOT_FOUND", `Approval ${id} not found`);
    return item;
  }

  private refuse(item: ApprovalItemResponse): void {
    const status = this.nextStatus;
    this.nextStatus = 0;
    if (status === 404) {
      this.items = this.items.filter((other) => other !== item);
      throw new Refused(404, "NOT_FOUND", `Approval ${item.id} not found`);
    }
    if (status === 409) {
      this.items = this.items.map((other) =>
        other === item
          ? { ...other, frame: "f-changed", toolSummary: "rm -r build", riskHint: "Deletes files for good" }
          : other,
      );
      throw new Refused(409, "CONFLICT", "the dialog has changed since it was shown");
    }
    if (status === 422) throw new Refused(422, "OPERATION_FAILED", "the key could not be written");
  }

  answer(id: string, body: Record<string, unknown>): unknown {
    const item = this.find(id);
    if (this.nextStatus !== 0) this.refuse(item);
    if (body["expectFrame"] !== undefined && body["expectFrame"] !== item.frame)
      throw new Refused(409, "CONFLICT", "the dialog has changed since it was shown");
    if (body["action"] === "text" && item.kind === ("permission" satisfies ItemKind))
      throw new Refused(400, "INVALID_INPUT", "text: the dialog has no option for a text");
    this.answers.push(body);
    this.resolve(item, "answered");
    return { id, sessionId: item.sessionId, action: body["action"] };
  }

  dismiss(id: string): unknown {
    this.resolve(this.find(id), "dismissed");
    return { id };
  }

  viewed(sessionId: string): unknown {
    const item = this.items.find((other) => other.sessionId === sessionId && other.kind === "idle");
    if (!item) return { sessionId, acknowledged: null };
    const seen = { ...item, acknowledgedAt: Date.now() };
    this.items = this.items.map((other) => (other === item ? seen : other));
    this.hub.publish("approval:updated", seen);
    return { sessionId, acknowledged: item.id };
  }

  endSession(sessionId: string): void {
    for (const item of this.items.filter((other) => other.sessionId === sessionId))
      this.resolve(item, "session_ended");
  }

  route(method: string, path: string[], body: Record<string, unknown>): unknown {
    const [, , id, what, last] = path;
    if (method === "GET" && id === undefined) return { approvals: this.list() };
    if (id === "session" && what && last === "viewed") return this.viewed(what);
    if (id && what === "answer") return this.answer(decodeURIComponent(id), body);
    if (id && what === "dismiss") return this.dismiss(decodeURIComponent(id));
    throw new Refused(404, "NOT_FOUND", `Route ${method} /${path.join("/")} not found`);
  }
}
