/** The cases as the service has them, kept up to date while somebody looks. */
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError } from "../../store/toasts.ts";
import { describeRemoval, applyCloneProgress, type CloneProgress } from "./rules.ts";
import type { CaseResponse } from "../../api/types.ts";
import { resource } from "../../store/resource.ts";

/** A worktree or a folder holds what no remote has; sessions in the case are another matter. */
const isUnsaved = (error: unknown): boolean => error instanceof ApiError && error.code === "CONFLICT";

/** @param force also what is not committed or not pushed may go. */
const remove = (name: string, force: boolean) =>
  api.delete("/api/cases/{name}", { path: { name }, query: { force } });

async function insist(each: CaseResponse, error: unknown): Promise<void> {
  const answer = await askQuestion({
    title: `${each.name} has unsaved work`,
    text: `${getErrorText(error)} ${describeRemoval(each)}`,
    action: "Remove anyway",
    danger: true,
  });
  if (answer !== undefined) await remove(each.name, true);
}

export async function askAndRemoveCase(each: CaseResponse): Promise<void> {
  const answer = await askQuestion({
    title: `Remove ${each.name}?`,
    text: describeRemoval(each),
    action: "Remove",
    danger: true,
  });
  if (answer === undefined) return;
  try {
    await remove(each.name, false).catch((error: unknown) => {
      if (isUnsaved(error)) return insist(each, error);
      throw error;
    });
  } catch (error) {
    showError("Couldn't remove the workspace", error);
  }
  await caseList.refresh();
}

export const caseList = resource<readonly CaseResponse[]>(() => api.get("/api/cases"), ["case:"], {
  keep: true,
  apply: (known, data, name) => {
    if (name !== "case:cloneProgress") return undefined;
    const progress = data as CloneProgress;
    const cloning = known.some((each) => each.name === progress.name);
    return cloning ? applyCloneProgress(known, progress) : undefined;
  },
});

/** One that was made here, before the list is read again. */
export function keepCase(made: CaseResponse): void {
  const others = (caseList.data.peek() ?? []).filter((each) => each.name !== made.name);
  caseList.data.value = [...others, made];
}
