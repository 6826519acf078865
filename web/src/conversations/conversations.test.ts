import { expect, test } from "vitest";
import type { CliItem, ConversationResponse } from "../api/types.ts";
import { SESSION } from "../api/sample.ts";
import { bar, homeOf, pieces, resumeBody, sumOf, turnsText } from "./words.ts";

const one: ConversationResponse = {
  id: "c1",
  mode: "codex",
  updatedAt: 1,
  size: 2,
  turns: 3,
  workingDir: "/w",
};
const cli: CliItem = {
  id: "codex",
  label: "Codex",
  shortBadge: "CX",
  order: 1,
  kind: "agent",
  enabled: true,
  stock: true,
  installed: true,
};

test("what is sent to go on with one", () => {
  expect(resumeBody(one)).toEqual({ mode: "codex", resumeSessionId: "c1", start: true, workingDir: "/w" });
});

test("a conversation is alive in the session that has it now", () => {
  const home = { ...SESSION, id: "s1", pid: 7, conversationIds: ["c0", "c1"] };
  expect(homeOf(one, [home])?.id).toBe("s1");
  expect(homeOf({ ...one, id: "c0" }, [home])).toBeUndefined();
  expect(homeOf(one, [{ ...home, pid: null }])).toBeUndefined();
  expect(homeOf(one, [{ ...home, pid: null, detached: true }])?.id).toBe("s1");
});

test("why one cannot be gone on with", () => {
  expect(bar(one, cli)).toBeUndefined();
  expect(bar(one, undefined)).toContain("no CLI codex");
  expect(bar(one, { ...cli, installed: false })).toContain("not installed");
  expect(bar(one, { ...cli, enabled: false })).toContain("switched off");
  const { workingDir: _, ...nowhere } = one;
  expect(bar(nowhere, cli)).toContain("folder");
});

test("sums and turns are honest about what was not looked at", () => {
  expect(turnsText(one)).toBe("3 turns");
  expect(turnsText({ ...one, turnsCut: true })).toBe("over 3 turns");
  expect(sumOf({ sessions: [], total: 2 }, "")).toBe("2 conversations");
  expect(sumOf({ sessions: [], total: 0, complete: true }, "x")).toBe("Nothing found");
  expect(sumOf({ sessions: [], total: 1, complete: false }, "x")).toContain("older ones");
});

test("what was looked for is marked, whatever its case", () => {
  expect(pieces("a Door, a door", "DOOR").filter(({ hit }) => hit)).toHaveLength(2);
  expect(pieces("abc", "")).toEqual([{ text: "abc", hit: false }]);
});
