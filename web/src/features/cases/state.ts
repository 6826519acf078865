/** The cases as the service has them, kept up to date while somebody looks. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getErrorText } from "../../api/errors.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { listCases } from "./calls.ts";
import { applyCloneProgress } from "./rules.ts";
import type { CaseResponse, CloneProgress } from "./types.ts";

/** Undefined until they were read. */
export const cases = signal<readonly CaseResponse[] | undefined>(undefined);
export const casesProblem = signal("");

const reread = new CoalescedRead(async (outdated) => {
  try {
    const found = await listCases();
    if (outdated()) return;
    cases.value = found;
    casesProblem.value = "";
  } catch (error) {
    casesProblem.value = getErrorText(error);
  }
});

export const readCases = (): Promise<void> => reread.now();

/** One that was made here, before the list is read again. */
export function keepCase(made: CaseResponse): void {
  const others = (cases.peek() ?? []).filter((each) => each.name !== made.name);
  cases.value = [...others, made];
}

function heard(data: unknown, name: string): void {
  if (name !== "case:cloneProgress") return void readCases();
  const progress = data as CloneProgress;
  const known = cases.peek() ?? [];
  if (known.some((each) => each.name === progress.name)) cases.value = applyCloneProgress(known, progress);
  else void readCases();
}

/** Reads them now, and again whenever one comes, goes or moves. */
export function useCases(): readonly CaseResponse[] | undefined {
  useEffect(() => {
    void readCases();
    const end = onServerEvent("case:", heard);
    return () => void end();
  }, []);
  return cases.value;
}
