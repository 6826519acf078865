import { describe, expect, test } from "vitest";
import type { Report, Status, ToolResponse } from "./types.ts";
import { failing, ofCategory, tallies, took, verdict } from "./words.ts";

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

function report(...tools: ToolResponse[]): Report {
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
    expect(ofCategory(found, "core").map(({ id }) => id)).toEqual(["tmux", "git", "python", "cli"]);
    expect(ofCategory(found, "office")).toEqual([]);
  });

  test.each([
    [[tool("a", "ok", true)], true, "All 1 program ready."],
    [
      [tool("a", "ok", true), tool("b", "missing")],
      true,
      "Everything needed is there; 1 further program could be.",
    ],
    [[tool("a", "outdated", true)], false, "a: needed, and not as it should be."],
    [
      [tool("a", "missing", true), tool("b", "error", true)],
      false,
      "a, b: needed, and not as they should be.",
    ],
  ])("says whether the service can work", (tools, good, text) => {
    expect(verdict(report(...tools))).toEqual({ good, text });
  });

  test("counts what is not zero", () => {
    expect(tallies(report(tool("a", "ok"), tool("b", "missing"), tool("c", "missing")))).toEqual([
      ["ok", "1 ready"],
      ["missing", "2 missing"],
    ]);
    expect(failing(report(tool("a", "missing")))).toEqual([]);
  });

  test("durations", () => {
    expect([took(0.2), took(274.6), took(1000), took(25_040)]).toEqual(["1 ms", "275 ms", "1.0 s", "25.0 s"]);
  });
});
