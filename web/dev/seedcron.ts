/** Jobs that show every look of their page. */
import type { Definition, RunResponse } from "../src/features/cron/jobs/job.ts";
import type { MockState } from "./state.ts";

const HOUR_MS = 3_600_000;

const SHAPE: Omit<Definition, "name" | "scheduleType"> = {
  agentType: "primary",
  workingDir: "/home/demo/work/parser",
  promptMode: "inline_text",
  promptText: "Update the dependencies, run the tests and sum up what changed.",
  inputMode: "paste",
  enabled: true,
  concurrencyPolicy: "warn_only",
  autoClosePreviousSession: true,
};

const JOBS: Definition[] = [
  { ...SHAPE, name: "Nightly dependency update", scheduleType: "daily", dailyTime: "03:30" },
  {
    ...SHAPE,
    name: "Weekly summary of what was merged",
    agentType: "codex",
    workingDir: "/home/demo/work/billing-service",
    scheduleType: "weekly",
    weeklyDays: [1, 3, 5],
    weeklyTime: "09:00",
    concurrencyPolicy: "skip_if_same_agent_running",
  },
  {
    ...SHAPE,
    name: "Disk watch",
    agentType: "shell",
    workingDir: "/home/demo/work",
    promptText: "df -h | tail -n +2",
    scheduleType: "cron",
    cronExpression: "*/15 * * * *",
  },
  {
    ...SHAPE,
    name: "Look for flaky tests",
    scheduleType: "interval",
    intervalMinutes: 120,
    enabled: false,
    promptMode: "prompt_file_path",
    promptText: null,
    promptFilePath: "/home/demo/work/parser/prompts/flaky.md",
  },
];

type Told = Pick<RunResponse, "status"> & Partial<RunResponse>;

function seedRuns(state: MockState, jobId: string, told: readonly [number, Told][]): void {
  for (const [hours, run] of told) {
    const startedAt = Date.now() - hours * HOUR_MS;
    state.cron.runs.push({
      id: `run-${jobId}-${hours}`,
      cronJobId: jobId,
      sessionId: null,
      sessionName: null,
      startedAt,
      finishedAt: startedAt + 9_000,
      triggerType: "scheduled",
      createdSessionUrl: null,
      ...run,
    });
  }
}

function sent(sessionId: string, sessionName: string): Told {
  return { status: "prompt_sent", sessionId, sessionName, createdSessionUrl: `/?session=${sessionId}` };
}

export function seedCron(state: MockState): void {
  const [nightly, weekly, disk] = JOBS.map((each) => state.cron.create(each).job.id);
  state.cron.create({
    ...SHAPE,
    name: "Cut the release branch",
    scheduleType: "once",
    runAt: Date.now() + 50 * HOUR_MS,
  });
  const named = (name: string) => [...state.sessions.values()].find((each) => each.record.name === name);
  const agent = named("write the changelog")?.record;
  const shell = named("build")?.record;
  if (!nightly || !weekly || !disk || !agent || !shell) throw new Error("the mock's sessions are not seeded");
  seedRuns(state, nightly, [
    [8, sent(agent.id, agent.name)],
    [32, sent("gone-1", "Nightly dependency update")],
    [56, { status: "skipped", errorMessage: "another Claude Code session is running" }],
    [80, sent("gone-2", "Nightly dependency update")],
  ]);
  seedRuns(state, weekly, [
    [6, { status: "failed", errorMessage: "Codex was not ready within 60 s: it asks to sign in" }],
    [54, sent("gone-3", "Weekly summary of what was merged")],
  ]);
  seedRuns(state, disk, [
    ...Array.from({ length: 14 }, (_, n): [number, Told] => [
      (n + 1) / 4,
      n === 0 ? sent(shell.id, shell.name) : sent(`gone-d${n}`, "Disk watch"),
    ]),
  ]);
  state.cron.settle();
}
