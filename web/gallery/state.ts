/** What the components show: sessions of every look and one dialog of every kind. */
import { SESSION } from "../src/api/sample.ts";
import type { CliItem, Session } from "../src/api/types.ts";
import type { ApprovalItemResponse } from "../src/features/approvals/item.ts";
import { setInbox } from "../src/features/approvals/state.ts";
import { marks } from "../src/features/settings/saving.ts";
import { activeId, clis, putSession, settings } from "../src/store/state.ts";
import { hasReceivedInit, streamState } from "../src/api/stream/connection.ts";
import { currentView } from "../src/features/terminal/current.ts";
import type { TerminalView } from "../src/features/terminal/view.ts";
import { coarse } from "../src/features/touch/state.ts";

/** The same at every look, so that pictures can be compared. */
export const NOW = Date.now();

const session = (id: string, name: string, part: Partial<Session> = {}): Session => ({
  ...SESSION,
  id,
  name,
  mode: "agent",
  workingDir: "/home/demo/work",
  createdAt: NOW,
  lastActivityAt: NOW,
  ...part,
});

const SESSIONS: readonly Session[] = [
  session("asks", "hexadecimal floats", { status: "busy", color: "purple", pinned: true }),
  session("done", "write the changelog"),
  session("busy", "review the migration", { status: "busy", color: "orange" }),
  session("idle", "build", { mode: "shell", color: "green" }),
  session("ended", "logs", { mode: "shell", pid: null, paneExit: { status: 0, at: NOW } }),
  session("stopped", "docs site", { pid: null, status: "stopped" }),
  session("failed", "nightly", { pid: null, status: "error" }),
  session("away", "far away", { detached: true }),
];

const item = (id: string, part: Partial<ApprovalItemResponse>): ApprovalItemResponse => ({
  id,
  sessionId: id,
  sessionName: SESSIONS.find((each) => each.id === id)?.name ?? id,
  kind: "permission",
  createdAt: NOW,
  frame: "f",
  ...part,
});

const YES_NO = [
  { n: 1, label: "Yes", selected: true },
  { n: 2, label: "Yes, and don't ask again for make commands", selected: false },
  { n: 3, label: "No, and tell the agent what to do differently", selected: false },
];

export const ITEMS: readonly ApprovalItemResponse[] = [
  item("asks", {
    toolName: "Bash",
    toolSummary: 'cd parser && make test CFLAGS="-O2" | tee "$LOG" # once more',
    options: YES_NO,
    context: "Bash command\n\n  make test\n\nDo you want to proceed?\n❯ 1. Yes\n  2. No",
  }),
  item("busy", { toolName: "Bash", toolSummary: "sudo rm -rf /var/lib/app", options: YES_NO }),
  item("idle", {
    kind: "question",
    message: "Which database should the billing service use?",
    options: [
      { n: 1, label: "PostgreSQL", description: "as the other services do", selected: true },
      { n: 2, label: "SQLite", description: "one file, no server", selected: false },
      { n: 3, label: "Type something.", selected: false },
    ],
  }),
  item("away", {
    kind: "question",
    message: "Which checks should run before each commit?",
    options: [
      { n: 1, label: "Type check", checked: true, selected: true },
      { n: 2, label: "Unit tests", checked: false, selected: false },
    ],
  }),
  item("failed", { toolName: "Edit", toolSummary: "src/parser.ts" }),
  item("done", { kind: "idle", message: "The agent is waiting for your input" }),
];

const cli = (id: string, label: string, shortBadge: string, kind: string): CliItem =>
  ({ id, label, shortBadge, kind, enabled: true, installed: true }) as CliItem;

export function fillState(): void {
  clis.value = [cli("agent", "An agent", "AG", "agent"), cli("shell", "Shell", "SH", "shell")];
  settings.value = { displayName: "demo", historyLimit: 100_000 };
  SESSIONS.forEach(putSession);
  setInbox(() => ITEMS);
  activeId.value = "asks";
  hasReceivedInit.value = true;
  streamState.value = "open";
  marks.value = new Map([
    ["displayName", { state: "saved", before: "" }],
    ["defaultWorkingDir", { state: "refused", text: "Must be an absolute path.", value: "work" }],
  ]);
  coarse.value = true;
  currentView.value = { waiting: { value: 0 }, foreignSize: { value: undefined } } as unknown as TerminalView;
}
