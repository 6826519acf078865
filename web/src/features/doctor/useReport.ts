/** The report, looked up when the page opens and whenever a person asks. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { DoctorResponse } from "../../api/types.ts";

export type Examined =
  | { state: "looking"; before?: DoctorResponse }
  | { state: "refused" }
  | { state: "failed"; problem: string }
  | { state: "read"; report: DoctorResponse; ms: number };

/** In multi-user mode the report is for administrators (protocol-doctor). */
function outcome(error: unknown): Examined {
  const refused = error instanceof ApiError && error.status === 403;
  return refused ? { state: "refused" } : { state: "failed", problem: getErrorText(error) };
}

export function useReport(): [Examined, () => void] {
  const [found, setFound] = useState<Examined>({ state: "looking" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const began = performance.now();
    setFound((last) => ({ state: "looking", ...(last.state === "read" && { before: last.report }) }));
    api.get("/api/doctor", { signal }).then(
      (report) => !signal.aborted && setFound({ state: "read", report, ms: performance.now() - began }),
      (error: unknown) => !signal.aborted && setFound(outcome(error)),
    );
    return () => controller.abort();
  }, [turn]);
  return [found, () => setTurn((before) => before + 1)];
}
