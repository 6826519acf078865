import { describe, expect, test } from "vitest";
import type { Sync, Target } from "../../api/types.ts";
import type { Status } from "./texts.ts";
import { countAdditions, sortTargets, listNotes, explainStatus, summarizeSync } from "./texts.ts";

const target = (id: string, status: Status = "ok", part: Partial<Target> = {}): Target => ({
  id,
  label: id,
  file: `/home/${id}`,
  status,
  servers: [],
  added: [],
  skipped: [],
  ...part,
});

const result = (targets: Target[], part: Partial<Sync> = {}): Sync => ({
  applied: false,
  targets,
  conflicts: [],
  disabled: [],
  unsupported: [],
  ...part,
});

describe("the sync of MCP servers", () => {
  test("shows first what needs a person, then what gets something, last what is not there", () => {
    const found = [
      target("absent", "absent"),
      target("complete"),
      target("gets", "ok", { added: ["x"] }),
      target("left", "skipped"),
      target("broken", "unreadable"),
      target("failed", "failed"),
    ];
    expect(sortTargets(found).map(({ id }) => id)).toEqual([
      "broken",
      "failed",
      "left",
      "gets",
      "complete",
      "absent",
    ]);
  });

  test.each([
    [result([target("a")]), true, "No agent has MCP servers yet."],
    [result([target("a", "ok", { servers: ["x"] })]), true, "All agents are in sync."],
    [result([target("a", "ok", { added: ["x"] })]), false, "Sync will add 1 entry in 1 file."],
    [
      result([target("a", "ok", { added: ["x", "y"] }), target("b", "ok", { added: ["z"] })], {
        applied: true,
      }),
      true,
      "Added 3 entries in 2 files.",
    ],
    [
      result([target("a", "ok", { added: ["x"] }), target("b", "failed")], { applied: true }),
      false,
      "Added 1 entry in 1 file. 1 file can't be used.",
    ],
    [
      result([target("a", "ok", { servers: ["x"] }), target("b", "unreadable")]),
      false,
      "All agents are in sync. 1 file can't be used.",
    ],
  ])("says what there is to do", (found, good, text) => {
    expect(summarizeSync(found)).toEqual({ good, text });
  });

  test("counts what is added", () => {
    expect(countAdditions(result([target("a", "ok", { added: ["x", "y"] }), target("b")]))).toBe(2);
  });

  test("gives the service's reason before its own", () => {
    expect(explainStatus(target("a", "unreadable", { error: "not valid JSON (line 1, column 2)" }))).toBe(
      "not valid JSON (line 1, column 2)",
    );
    expect(explainStatus(target("a", "skipped"))).toContain("relative");
    expect(explainStatus(target("a"))).toBe("");
  });

  test("mentions only what there is to mention", () => {
    expect(listNotes(result([]))).toEqual([]);
    const found = listNotes(result([], { disabled: ["x"], unsupported: ["Pi"] }));
    expect(found.map(([, , names]) => names)).toEqual([["x"], ["Pi"]]);
  });
});
