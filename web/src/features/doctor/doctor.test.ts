import { describe, expect, test } from "vitest";
import type { DoctorResponse, ToolResponse } from "../../api/types.ts";
import type { Status } from "./texts.ts";
import { findFailing, listTools, countByStatus, formatDuration, summarizeReport } from "./texts.ts";

const tool = (
  id: string,
  status: Status,
  required = false,
  part: Partial<ToolResponse> = {},
): ToolResponse => ({
  id,
  label: id,
  category: "core",
  required,
  status,
  ...part,
});

function report(...tools: ToolResponse[]): DoctorResponse {
  const summary = { ok: 0, missing: 0, outdated: 0, skipped: 0, error: 0 };
  for (const { status } of tools) summary[status]++;
  return { platform: "linux", summary, tools, lookedIn: [] };
}

describe("the doctor's report", () => {
  test("shows first what needs a person, then what is there, then what could be", () => {
    const found = report(
      tool("cli", "missing"),
      tool("git", "outdated"),
      tool("python", "ok", true),
      tool("tmux", "missing", true),
      tool("ssh", "ok", false, { category: "other" }),
    );
    expect(listTools(found, "core").map(({ id }) => id)).toEqual(["tmux", "git", "python", "cli"]);
    expect(listTools(found, "office")).toEqual([]);
  });

  test.each([
    [[tool("a", "ok", true)], true, "All tools found."],
    [
      [tool("a", "ok", true), tool("b", "missing")],
      true,
      "All required tools found; 1 optional one is missing or outdated.",
    ],
    [[tool("a", "outdated", true)], false, "Install or fix a: it is required."],
    [
      [tool("a", "missing", true), tool("b", "error", true)],
      false,
      "Install or fix a, b: they are required.",
    ],
  ])("says whether the service can work", (tools, good, text) => {
    expect(summarizeReport(report(...tools))).toEqual({ good, text });
  });

  test("counts what is not zero", () => {
    expect(countByStatus(report(tool("a", "ok"), tool("b", "missing"), tool("c", "missing")))).toEqual([
      ["ok", "1 ready"],
      ["missing", "2 missing"],
    ]);
    expect(findFailing(report(tool("a", "missing")))).toEqual([]);
  });

  test("durations", () => {
    expect([
      formatDuration(0.2),
      formatDuration(274.6),
      formatDuration(1000),
      formatDuration(25_040),
    ]).toEqual(["1 ms", "275 ms", "1.0 s", "25.0 s"]);
  });
});
