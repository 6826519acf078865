import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { ApiError } from "../../api/errors.ts";
import { SUMMARIES } from "../../api/summaries.ts";
import type { AuditEntryResponse } from "../../api/types.ts";
import { KINDS, NO_FILTER, queryOf } from "./state.ts";
import {
  describeAction,
  describeActor,
  describeDetails,
  isWorded,
  markOf,
  describeMethod,
  describeTarget,
  tellSummary,
} from "./texts.ts";

const calls = { readAudit: new FakeService().on("GET /api/admin/audit") };
const state = await import("./state.ts");

const ENTRY: AuditEntryResponse = {
  seq: 9,
  at: 1,
  actor: "anna",
  method: "cookie",
  address: "192.0.2.7",
  action: "POST /api/tokens",
  target: "0123456789abcdef",
  detail: {},
};
const entries = (...seqs: number[]) => seqs.map((seq) => ({ ...ENTRY, seq }));

beforeEach(() => {
  calls.readAudit.mockReset();
  state.filter.value = NO_FILTER;
  state.entries.value = [];
  state.next.value = undefined;
  state.trouble.value = "";
});

describe("questions", () => {
  test.each([
    [NO_FILTER, undefined, {}],
    [{ kind: "logins", actor: "" }, undefined, { action: "login" }],
    [{ kind: "users", actor: " anna " }, 7, { path: "/api/admin/users", actor: "anna", before: 7 }],
    [{ kind: "no such", actor: "" }, 0, { before: 0 }],
  ])("%j before %s", (filter, before, query) => {
    expect(queryOf(filter, before)).toEqual({ limit: 50, ...query });
  });

  test("each kind is there once", () => {
    expect(new Set(KINDS.map((kind) => kind.id)).size).toBe(KINDS.length);
  });
});

describe("pages", () => {
  test("follow each other until the end", async () => {
    calls.readAudit.mockResolvedValueOnce({ entries: entries(9, 8), next: 8 });
    await state.readFirst();
    calls.readAudit.mockResolvedValueOnce({ entries: entries(7) });
    await state.readMore();
    expect(calls.readAudit.mock.lastCall?.[0].query["before"]).toBe("8");
    expect(state.entries.value.map((entry) => entry.seq)).toEqual([9, 8, 7]);
    expect([state.next.value, state.reading.value]).toEqual([undefined, false]);
  });

  test("the answer to an earlier question is dropped", async () => {
    let release = (_page: unknown) => {};
    calls.readAudit.mockImplementationOnce(() => new Promise((resolve) => (release = resolve)));
    const first = state.readFirst();
    calls.readAudit.mockResolvedValueOnce({ entries: entries(3) });
    state.ask({ kind: "users" });
    await vi.waitFor(() => expect(state.entries.value).toHaveLength(1));
    release({ entries: entries(9) });
    await first;
    expect(state.entries.value.map((entry) => entry.seq)).toEqual([3]);
    expect(state.trouble.value).toBe("");
  });

  test("end at their bound", async () => {
    state.entries.value = entries(...Array.from({ length: state.SHOWN_MAX - 1 }, (_, n) => 5000 - n));
    state.next.value = 100;
    calls.readAudit.mockResolvedValueOnce({ entries: entries(99, 98), next: 98 });
    await state.readMore();
    expect([state.entries.value.length, state.next.value]).toEqual([state.SHOWN_MAX, undefined]);
  });

  test("that cannot be read say so and leave what is there", async () => {
    state.entries.value = entries(9);
    calls.readAudit.mockRejectedValueOnce(new ApiError(503, "", "busy"));
    await state.readMore();
    expect([state.trouble.value, state.entries.value.length]).toEqual(["busy", 1]);
  });
});

describe("words", () => {
  test("every operation that changes something is told as what somebody did", () => {
    const told = Object.keys(SUMMARIES).map((action) => describeAction(action));
    expect(told.length).toBeGreaterThan(100);
    expect(told.filter((text) => !/^(\w+ed|brought|gave|got|put|ran|sent|set)\b/.test(text))).toEqual([]);
    expect(tellSummary("Enable or disable a CLI")).toBe("enabled or disabled a CLI");
    expect(tellSummary("Reorder your cases; all of them")).toBe("reordered their cases");
    expect(tellSummary("Reply to a comment")).toBe("replied to a comment");
  });

  test("what has none stands as it is", () => {
    expect(isWorded("POST /api/tokens")).toBe(true);
    expect([describeAction("PUT /api/x"), isWorded("PUT /api/x")]).toEqual(["PUT /api/x", false]);
    expect([describeMethod("none"), describeMethod("cookie"), describeMethod("ring")]).toEqual([
      "",
      "browser",
      "ring",
    ]);
  });

  test("strangers and the server itself", () => {
    expect(describeActor(ENTRY)).toBe("anna");
    expect(describeActor({ ...ENTRY, actor: "", action: "login.failed" })).toBe("somebody");
    expect(describeActor({ ...ENTRY, actor: "", action: "audit.broken" })).toBe("the server");
  });

  test("what failed stands out", () => {
    expect(markOf(ENTRY)).toBe("plain");
    expect(markOf({ ...ENTRY, detail: { error: "LAST_ADMIN" } })).toBe("warn");
    expect(markOf({ ...ENTRY, action: "login.failed" })).toBe("warn");
    expect(markOf({ ...ENTRY, action: "login.locked" })).toBe("warn");
    expect(markOf({ ...ENTRY, action: "audit.broken" })).toBe("bad");
  });

  test("targets", () => {
    const nameOf = (id: string) => (id === "s" ? "build" : undefined);
    expect(describeTarget({ ...ENTRY, target: "s" }, nameOf)).toBe("build");
    expect(describeTarget(ENTRY, nameOf)).toBe("01234567…");
    expect(describeTarget({ ...ENTRY, target: "bob" }, nameOf)).toBe("bob");
    expect(describeTarget({ ...ENTRY, action: "login" }, nameOf)).toBe("");
  });

  test("details, whatever their form", () => {
    const detail = {
      fields: ["expires_at", "name"],
      error: "LAST_ADMIN",
      nothing: null,
      empty: "",
      deep: { a: 1 },
    };
    expect(describeDetails({ ...ENTRY, detail })).toEqual([
      "set: expires at, name",
      "error: LAST_ADMIN",
      'deep: {"a":1}',
    ]);
  });

  test.each([
    [{ fields: ["can_bypass_permissions", "os_user"] }, ["set: can run anything, OS user"]],
    [{ bucket: "basic", locked: false, username: "ann" }, ["wrong password", "as ann"]],
    [{ bucket: "token", locked: true }, ["wrong token", "locked out after too many attempts"]],
    [{ bucket: "basic", times: 40, locked: 30 }, ["wrong password", "40 times", "30 while locked out"]],
    [{ source: "http", length: 1234 }, ["1,234 characters"]],
    [{ source: "websocket", times: 1, length: 3 }, ["in a terminal", "once", "3 characters"]],
    [{ bucket: "qr", times: 2, locked: 0 }, ["wrong code", "2 times"]],
  ])("%j in plain words", (detail, words) => {
    expect(describeDetails({ ...ENTRY, detail })).toEqual(words);
  });
});
