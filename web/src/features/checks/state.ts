/** The last run of each session's checks. */
import { signal } from "@preact/signals";
import { onServerEvent } from "../../api/stream/events.ts";
import type { ChecksPayload } from "../../api/types.ts";

/** Of each session that has one. */
export const lastRuns = signal<ReadonlyMap<string, ChecksPayload>>(new Map());

/** The session whose results are open. */
export const openResults = signal<string | undefined>(undefined);

/** Follow what the service says for as long as the page lives. */
export function followChecks(): void {
  onServerEvent("init", ({ checks }) => {
    lastRuns.value = new Map((checks ?? []).map((each) => [each.sessionId, each]));
  });
  const keep = (told: ChecksPayload) => {
    lastRuns.value = new Map(lastRuns.peek()).set(told.sessionId, told);
  };
  onServerEvent("check:started", keep);
  onServerEvent("check:finished", keep);
  onServerEvent("session:deleted", ({ id }) => {
    const left = new Map(lastRuns.peek());
    if (left.delete(id)) lastRuns.value = left;
  });
}
