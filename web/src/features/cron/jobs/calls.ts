/** The routes of saved jobs (protocol-cron). */
import { request } from "../../../api/client.ts";
import type { Definition, JobResponse, RunResponse } from "./job.ts";

const JOBS = "api/cron/jobs";
const path = (id: string, rest = ""): string => `${JOBS}/${encodeURIComponent(id)}${rest}`;

export const listJobs = () => request<JobResponse[]>("GET", JOBS);

export const listRuns = () => request<RunResponse[]>("GET", "api/cron/runs");

export const runsOfJob = (id: string) => request<RunResponse[]>("GET", path(id, "/runs"));

export const createJob = (body: Definition) => request<{ job: JobResponse }>("POST", JOBS, { body });

export const changeJob = (id: string, body: Partial<Definition>) =>
  request<{ job: JobResponse }>("PUT", path(id), { body });

export const enableJob = (id: string, enabled: boolean) =>
  request<{ job: JobResponse }>("PUT", path(id, "/enabled"), { body: { enabled } });

export const deleteJob = (id: string) => request<unknown>("DELETE", path(id));

/** @returns how many live sessions of the same CLI there are that this job did not make. */
export const runJob = (id: string) =>
  request<{ run: RunResponse; activeAgents: number }>("POST", path(id, "/run"));

/** The next five fires of a definition, and its expression in words (protocol-cron). */
export const previewJob = (body: Definition, signal: AbortSignal) =>
  request<{ fires: number[]; explanation?: string }>("POST", "api/cron/preview", { body, signal });
