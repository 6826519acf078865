/** The cases as the service has them, kept up to date while somebody looks. */
import { api } from "../../api/client.ts";
import type { CaseResponse } from "../../api/types.ts";
import { resource } from "../../store/resource.ts";
import { applyCloneProgress, type CloneProgress } from "./rules.ts";

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
