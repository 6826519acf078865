/** The report in words. */
import { plural } from "../../lib/format.ts";
import type { DoctorResponse, ToolResponse } from "../../api/types.ts";

type Category = ToolResponse["category"];
export type Status = ToolResponse["status"];

export const CATEGORIES: readonly [Category, string, string][] = [
  ["core", "Core", "needed to run sessions and agents"],
  ["office", "Documents", "to preview office files and PDFs"],
  ["other", "Also useful", "remote hosts, containers, tunnel, web pages"],
];

export const STATUS_WORDS: Record<Status, string> = {
  ok: "ready",
  missing: "missing",
  outdated: "outdated",
  skipped: "not checked",
  error: "fails to run",
};

/** What needs a person first, then what is there, then what could be; else the service's order. */
function rankOf({ status, required }: ToolResponse): number {
  if (status === "ok") return 2;
  if (required) return 0;
  return status === "outdated" || status === "error" ? 1 : 3;
}

export function listTools(report: DoctorResponse, category: Category): ToolResponse[] {
  const tools = report.tools.filter((tool) => tool.category === category);
  return tools.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Something that the service cannot do without is not as it should be. */
export const findFailing = (report: DoctorResponse): ToolResponse[] =>
  report.tools.filter((tool) => tool.required && tool.status !== "ok");

export function summarizeReport(report: DoctorResponse): { good: boolean; text: string } {
  const bad = findFailing(report);
  if (bad.length > 0) {
    const names = bad.map((tool) => tool.label).join(", ");
    return {
      good: false,
      text: `Install or fix ${names}: ${bad.length === 1 ? "it is" : "they are"} required.`,
    };
  }
  const { ok, ...others } = report.summary;
  const rest = Object.values(others).reduce((sum, count) => sum + count, 0);
  if (rest === 0) return { good: true, text: "All tools found." };
  return {
    good: true,
    text: `All required tools found; ${plural(rest, "optional one")} ${rest === 1 ? "is" : "are"} missing or outdated.`,
  };
}

/** The figures of the summary that are not zero. */
export function countByStatus(report: DoctorResponse): [Status, string][] {
  const order: Status[] = ["ok", "outdated", "error", "missing", "skipped"];
  return order
    .filter((status) => report.summary[status] > 0)
    .map((status) => [status, `${report.summary[status]} ${STATUS_WORDS[status]}`]);
}

/** Milliseconds as people say them. */
export function formatDuration(ms: number): string {
  return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}
