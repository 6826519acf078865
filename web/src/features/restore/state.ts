/** The offer after a reboot, kept in step with the service. */
import type {
  RestoreOfferResponse,
  Told,
  RestoredSessionResponse,
  RestoreReportResponse,
} from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { computed, signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { settings } from "../../store/state.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError, showToast } from "../../store/toasts.ts";

export function summarizeRestore(restored: number, skipped: number): string {
  if (restored === 0) return `${plural(skipped, "session")} not restored`;
  if (skipped === 0) return `${plural(restored, "session")} restored`;
  return `${plural(restored, "session")} restored, ${skipped} not`;
}

export const offer = signal<RestoreOfferResponse | undefined>(undefined);
export const progress = signal<Told["restore:progress"] | undefined>(undefined);
/** Of the last try, by session. */
export const outcomes = signal<ReadonlyMap<string, RestoredSessionResponse>>(new Map());
export const restoring = computed(() => progress.value !== undefined || offer.value?.restoring === true);

export const restoresItself = computed(() => settings.value.autoRestoreEnabled === true);
export const keepsScrollback = computed(() => settings.value.keepScrollbackEnabled !== false);

const reads = new CoalescedRead(async (outdated) => {
  try {
    const found = await api.get("/api/reboot-restore");
    if (!outdated()) offer.value = found;
  } catch (error) {
    showError("Couldn't load the sessions to restore", error);
  }
});

function finished(report: RestoreReportResponse): void {
  progress.value = undefined;
  const found = new Map(outcomes.peek());
  for (const entry of report.entries) found.set(entry.sessionId, entry);
  outcomes.value = found;
  const { restored, skipped } = report;
  if (restored + skipped > 0) showToast(skipped > 0 ? "bad" : "good", summarizeRestore(restored, skipped));
  void reads.now();
}

/** The report comes as an event too, to every page of the owner's: that one is shown. */
export async function restoreSessions(ids?: readonly string[]): Promise<void> {
  outcomes.value = new Map();
  try {
    await api.post("/api/reboot-restore/restore", { body: ids ? { sessionIds: ids } : {} });
  } catch (error) {
    showError("Couldn't restore the sessions", error);
  }
  void reads.now();
}

export async function dismissOffer(): Promise<void> {
  try {
    await api.post("/api/reboot-restore/dismiss");
    offer.value = undefined;
  } catch (error) {
    showError("Couldn't dismiss", error);
  }
}

/** Follow the service's events for as long as the page lives. */
export function followRestore(): void {
  onServerEvent("init", () => {
    progress.value = undefined;
    void reads.now();
  });
  onServerEvent("restore:offered", () => void reads.now());
  onServerEvent("restore:progress", (data) => (progress.value = data));
  onServerEvent("restore:finished", finished);
}
