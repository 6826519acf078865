/** Which job is in the editor. */
import { signal } from "@preact/signals";
import { truncateText } from "../../../lib/format.ts";
import { firstMode, parseRemembered, recentFolders, REMEMBERED_KEY } from "../../sessions/newsession.ts";
import { readStored } from "../../../lib/stored.ts";
import { clis, serviceZone, sessions, settings } from "../../../store/state.ts";
import { type Draft, draftOf, newDraft } from "./draft.ts";
import { type JobResponse, NAME_MAX } from "../jobs/job.ts";
import { jobList } from "../jobs/state.ts";

export interface Editing {
  /** Absent for a new job. */
  id?: string;
  /** A saved job as it is. */
  draft: Draft;
  /** What the person is about to change, by how the editor was opened. */
  wish?: Partial<Draft>;
  /** What was in the fields when the page was left. */
  written?: Draft;
}

export const editing = signal<Editing | undefined>(undefined);

const kept = () => parseRemembered(readStored(REMEMBERED_KEY));

/** Folders of sessions and of the jobs that there are. */
export function offeredFolders(): string[] {
  const used = jobList.value.jobs.map((job) => job.workingDir);
  return [...new Set([...recentFolders(kept(), sessions.value, settings.value), ...used])];
}

export function editNew(): void {
  const remembered = kept();
  const mode = firstMode(clis.value, [remembered.mode, settings.value.defaultMode]);
  const folder = settings.value.defaultWorkingDir || offeredFolders()[0] || "";
  editing.value = { draft: newDraft(Date.now(), serviceZone.value, mode, folder) };
}

const draftFrom = (job: JobResponse): Draft => draftOf(job, Date.now(), serviceZone.value);

export function edit(job: JobResponse): void {
  editing.value = { id: job.id, draft: draftFrom(job) };
}

/** A job that has run can be switched on only with another moment: tomorrow is offered. */
export function editAgain(job: JobResponse): void {
  const draft = draftFrom(job);
  const { runAt } = newDraft(Date.now(), serviceZone.value, draft.agentType, draft.workingDir);
  editing.value = { id: job.id, draft, wish: { enabled: true, runAt } };
}

export function editCopy(job: JobResponse): void {
  const mark = " (copy)";
  const name = `${truncateText(job.name, NAME_MAX - mark.length)}${mark}`;
  editing.value = { draft: { ...draftFrom(job), name } };
}
