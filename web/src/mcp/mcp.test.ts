import { describe, expect, test } from "vitest";
import type { Status, SyncResult, Target } from "./types.ts";
import { additions, inOrder, notes, reasonOf, verdict } from "./words.ts";

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

const result = (targets: Target[], part: Partial<SyncResult> = {}): SyncResult => ({
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
    expect(inOrder(found).map(({ id }) => id)).toEqual([
      "broken",
      "failed",
      "left",
      "gets",
      "complete",
      "absent",
    ]);
  });

  test.each([
    [result([target("a")]), true, "No MCP server is set up anywhere yet."],
    [result([target("a", "ok", { servers: ["x"] })]), true, "Every agent has what it can have."],
    [result([target("a", "ok", { added: ["x"] })]), false, "A sync would add 1 entry in 1 file."],
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
      "Added 1 entry in 1 file. 1 file could not be used.",
    ],
    [
      result([target("a", "ok", { servers: ["x"] }), target("b", "unreadable")]),
      false,
      "Every agent has what it can have. 1 file could not be used.",
    ],
  ])("says what there is to do", (found, good, text) => {
    expect(verdict(found)).toEqual({ good, text });
  });

  test("counts what is added", () => {
    expect(additions(result([target("a", "ok", { added: ["x", "y"] }), target("b")]))).toBe(2);
  });

  test("gives the service's reason before its own", () => {
    expect(reasonOf(target("a", "unreadable", { error: "not valid JSON (line 1, column 2)" }))).toBe(
      "not valid JSON (line 1, column 2)",
    );
    expect(reasonOf(target("a", "skipped"))).toContain("relative");
    expect(reasonOf(target("a"))).toBe("");
  });

  test("mentions only what there is to mention", () => {
    expect(notes(result([]))).toEqual([]);
    const found = notes(result([], { disabled: ["x"], unsupported: ["Pi"] }));
    expect(found.map(([, , names]) => names)).toEqual([["x"], ["Pi"]]);
  });
});
