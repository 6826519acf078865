/** The mock's saved jobs and their runs (protocol-cron). */
import { randomUUID } from "node:crypto";
import type { Definition, JobResponse, RunResponse } from "../src/features/cron/jobs/job.ts";
import { fires } from "./fires.ts";
import { Refused } from "./refused.ts";
import type { Hub } from "./session.ts";

/** Where the mock's clocks are; seldom where its reader's are. */
export const ZONE = "Europe/Berlin";

export interface Made {
  id: string;
  name: string;
}

/** What a job needs of the sessions. */
export interface Launcher {
  launch(definition: Definition): Made;
  /** How many of this mode run, less those named. */
  others(mode: string, own: ReadonlySet<string>): number;
  end(id: string): void;
}

/** @param tried: it is a preview, for which no folder need be chosen. */
function check(definition: Definition, tried = false): void {
  const refuse = (text: string) => {
    throw new Refused(400, "INVALID_INPUT", text);
  };
  if (!definition.name) refuse("name: must be at least 1 characters");
  const folder = definition.workingDir ?? "";
  if (!folder && !definition.caseName && !tried) refuse("workingDir: is required");
  if (/^\/(?:etc|proc|sys|dev)?$/.test(folder) && folder) refuse("workingDir: is not allowed");
  if (folder.startsWith("/no/")) refuse("workingDir: does not exist");
  if (definition.scheduleType === "once" && (definition.runAt ?? 0) <= Date.now())
    refuse("runAt: must be in the future");
  if (definition.promptMode === "inline_text" && !definition.promptText) refuse("promptText: is required");
}

/** A job without what is `null` in a request. */
const kept = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Kept<T>;

type Kept<T> = { [K in keyof T]: K extends keyof JobResponse ? JobResponse[K] : T[K] };

export class MockCron {
  jobs: JobResponse[] = [];
  runs: RunResponse[] = [];
  /** Why the next run fails; empty: it does not. */
  nextFailure = "";
  private readonly hub: Hub;
  private readonly launcher: Launcher;

  constructor(hub: Hub, launcher: Launcher) {
    this.hub = hub;
    this.launcher = launcher;
  }

  private planned(job: JobResponse): JobResponse {
    const nextRunAt = job.enabled ? (fires(job, Date.now(), ZONE, 1)[0] ?? null) : null;
    return { ...job, nextRunAt };
  }

  private keep(job: JobResponse): { job: JobResponse } {
    const next = this.planned({ ...job, updatedAt: Date.now() });
    this.jobs = [next, ...this.jobs.filter((other) => other.id !== job.id)];
    this.hub.publish("cron:jobsChanged", { jobs: this.jobs });
    return { job: next };
  }

  create(definition: Definition): { job: JobResponse } {
    check(definition);
    const now = Date.now();
    const none = { lastRunAt: null, nextRunAt: null, lastStatus: null, lastDueKey: null };
    return this.keep({
      autoClosePreviousSession: true,
      ...kept(definition),
      workingDir: definition.workingDir ?? "",
      id: randomUUID(),
      createdAt: now,
      updatedAt: now,
      ...none,
    });
  }

  private find(id: string): JobResponse {
    const job = this.jobs.find((other) => other.id === id);
    if (!job) throw new Refused(404, "NOT_FOUND", `Job ${id} not found`);
    return job;
  }

  private change(id: string, part: Partial<Definition>): { job: JobResponse } {
    const job = kept({ ...this.find(id), ...part });
    check(job);
    return this.keep(job);
  }

  private remove(id: string): unknown {
    this.find(id);
    this.jobs = this.jobs.filter((job) => job.id !== id);
    this.hub.publish("cron:jobDeleted", { id });
    return {};
  }

  /** A run as it is now, told to everybody. */
  record(run: RunResponse): RunResponse {
    const isNew = !this.runs.some((other) => other.id === run.id);
    this.runs = [run, ...this.runs.filter((other) => other.id !== run.id)];
    this.jobs = this.jobs.map((job) =>
      job.id === run.cronJobId ? { ...job, lastRunAt: run.startedAt, lastStatus: run.status } : job,
    );
    this.hub.publish(isNew ? "cron:runCreated" : "cron:runUpdated", run);
    this.hub.publish("cron:jobsChanged", { jobs: this.jobs });
    return run;
  }

  /** Jobs take their last run from the list, newest first. */
  settle(): void {
    this.runs.sort((a, b) => b.startedAt - a.startedAt);
    this.jobs = this.jobs.map((job) => {
      const [last] = this.runsOf(job.id);
      return last ? { ...job, lastRunAt: last.startedAt, lastStatus: last.status } : job;
    });
  }

  /** Sessions that runs of a job made. */
  private made(id: string): Set<string> {
    return new Set(this.runsOf(id).flatMap((run) => run.sessionId ?? []));
  }

  run(id: string, triggerType: RunResponse["triggerType"] = "manual_run_now"): unknown {
    const job = this.find(id);
    const own = this.made(id);
    const activeAgents = this.launcher.others(job.agentType, own);
    if (job.scheduleType !== "once" && job.autoClosePreviousSession !== false)
      for (const before of own) this.launcher.end(before);
    return {
      run: this.nextFailure ? this.fail(job, triggerType) : this.start(job, triggerType),
      activeAgents,
    };
  }

  private fresh(job: JobResponse, triggerType: RunResponse["triggerType"]): RunResponse {
    const startedAt = Date.now();
    const none = { sessionId: null, sessionName: null, finishedAt: null, createdSessionUrl: null };
    return { id: randomUUID(), cronJobId: job.id, startedAt, status: "created", triggerType, ...none };
  }

  private fail(job: JobResponse, triggerType: RunResponse["triggerType"]): RunResponse {
    const errorMessage = this.nextFailure;
    this.nextFailure = "";
    return this.record({
      ...this.fresh(job, triggerType),
      status: "failed",
      finishedAt: Date.now(),
      errorMessage,
    });
  }

  private start(job: JobResponse, triggerType: RunResponse["triggerType"]): RunResponse {
    const { id, name } = this.launcher.launch(job);
    const session = { sessionId: id, sessionName: name, createdSessionUrl: `/?session=${id}` };
    const run = this.record({ ...this.fresh(job, triggerType), status: "session_started", ...session });
    setTimeout(() => this.record({ ...run, status: "prompt_sent", finishedAt: Date.now() }), 400);
    return run;
  }

  private runsOf(id: string): RunResponse[] {
    return this.runs.filter((run) => run.cronJobId === id);
  }

  private preview(definition: Definition): unknown {
    check(definition, true);
    const isCron = definition.scheduleType === "cron";
    const explanation = isCron ? { explanation: "What the service says of the expression." } : {};
    return { fires: fires(definition, Date.now(), ZONE, 5), ...explanation };
  }

  route(method: string, path: string[], body: Record<string, unknown>): unknown {
    const [, , what, id, part] = path;
    const definition = body as unknown as Definition;
    if (what === "preview") return this.preview(definition);
    if (what === "runs") return this.runs;
    if (id === undefined) return method === "POST" ? this.create(definition) : this.jobs;
    if (part === "run") return this.run(id);
    if (part === "runs") return this.runsOf(id);
    if (part === "enabled") return this.change(id, { enabled: body["enabled"] === true });
    if (method === "PUT") return this.change(id, definition);
    return method === "DELETE" ? this.remove(id) : this.find(id);
  }
}
