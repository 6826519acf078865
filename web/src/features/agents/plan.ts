/** How much of the subscription's limits is used (protocol-telemetry). */
import type { PlanUsagePayload, RateLimitWindow as PlanWindow } from "../../api/types.ts";

export type PlanUsage = Omit<PlanUsagePayload, "at">;

export type Level = "calm" | "amber" | "red";

export const AMBER_FROM = 80;
export const RED_FROM = 95;

export function levelOf(usedPercentage: number): Level {
  if (usedPercentage >= RED_FROM) return "red";
  return usedPercentage >= AMBER_FROM ? "amber" : "calm";
}

function windowOf(value: unknown): PlanWindow | undefined {
  const given = value as Partial<PlanWindow> | null | undefined;
  if (typeof given?.usedPercentage !== "number") return undefined;
  const usedPercentage = Math.max(0, Math.min(100, given.usedPercentage));
  return typeof given.resetAt === "number" ? { usedPercentage, resetAt: given.resetAt } : { usedPercentage };
}

/** The windows that `value` tells of, as in `init.planUsage` and in `session:statusTelemetry`. */
export function readPlan(value: unknown): PlanUsage {
  const given = value as { fiveHour?: unknown; sevenDay?: unknown } | null | undefined;
  const [fiveHour, sevenDay] = [windowOf(given?.fiveHour), windowOf(given?.sevenDay)];
  return { ...(fiveHour && { fiveHour }), ...(sevenDay && { sevenDay }) };
}

/** A report that leaves a window out says nothing about it. */
export const merge = (before: PlanUsage, report: unknown): PlanUsage => ({ ...before, ...readPlan(report) });

export interface PlanChip {
  id: "5h" | "7d";
  name: string;
  percent: number;
  level: Level;
  resetAt: number | undefined;
}

function chip(id: PlanChip["id"], name: string, window: PlanWindow | undefined, now: number): PlanChip[] {
  if (!window) return [];
  // Past its reset the figure is of a window that is over.
  if (window.resetAt !== undefined && window.resetAt <= now) return [];
  const percent = Math.floor(window.usedPercentage);
  return [{ id, name, percent, level: levelOf(window.usedPercentage), resetAt: window.resetAt }];
}

export function listPlanChips(plan: PlanUsage, now: number): PlanChip[] {
  return [
    ...chip("5h", "five-hour limit", plan.fiveHour, now),
    ...chip("7d", "weekly limit", plan.sevenDay, now),
  ];
}
