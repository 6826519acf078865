/** The plan's limits as told last, and what telemetry says of each session. */
import { computed, signal } from "@preact/signals";
import { request } from "../../api/client.ts";
import { sessionPath } from "../../api/paths.ts";
import type { Session } from "../../api/types.ts";
import { patchSession } from "../../store/sessions.ts";
import { putSession, sessionList, settings } from "../../store/state.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError } from "../../store/toasts.ts";
import { merge, type PlanUsage, readPlan } from "./plan.ts";

export const planUsage = signal<PlanUsage>({});

export const seedsFirstRun = computed(() => settings.value["firstRunSeedEnabled"] === true);
export const showPlan = computed(() => settings.value["showPlanUsageLimits"] === true);

/** What a `session:statusTelemetry` event changes in the session's record. */
export function telemetryChange(data: unknown): Partial<Session> {
  const given = (data ?? {}) as Record<string, unknown>;
  const { contextUsedPercentage: used, costUsd: cost, modelDisplayName: model } = given;
  return {
    ...(typeof used === "number" && { contextUsedPercentage: used }),
    ...(typeof cost === "number" && { totalCost: cost }),
    ...(typeof model === "string" && { displayModel: model }),
  };
}

function telemetry(data: unknown): void {
  planUsage.value = merge(planUsage.value, data);
  const id = (data as { sessionId?: unknown } | null)?.sessionId;
  if (typeof id === "string") sessionList.value = patchSession(sessionList.value, id, telemetryChange(data));
}

/** Continue by itself when the limit ends, or not. */
export async function setAutoResume(session: Session, enabled: boolean): Promise<void> {
  try {
    const autoResume = await request<NonNullable<Session["autoResume"]>>(
      "PUT",
      sessionPath(session.id, "/auto-resume"),
      { body: { enabled } },
    );
    const now = sessionList.peek().byId.get(session.id);
    if (now) putSession({ ...now, autoResume });
  } catch (error) {
    showError(enabled ? "Couldn't turn on auto-continue" : "Couldn't cancel auto-continue", error);
  }
}

export function followAgents(): void {
  onServerEvent("init", (data) => (planUsage.value = readPlan(data.planUsage)));
  onServerEvent("session:statusTelemetry", telemetry);
}
