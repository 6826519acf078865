import { expect, test } from "vitest";
import type { CliItem, ConversationResponse } from "../../api/types.ts";
import { SESSION } from "../../api/sample.ts";
import {
  explainNotResumable,
  findOpenSession,
  splitByMatch,
  resumeBody,
  summarizeSearch,
  turnsText,
} from "./texts.ts";

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
  expect(findOpenSession(one, [home])?.id).toBe("s1");
  expect(findOpenSession({ ...one, id: "c0" }, [home])).toBeUndefined();
  expect(findOpenSession(one, [{ ...home, pid: null }])).toBeUndefined();
  expect(findOpenSession(one, [{ ...home, pid: null, detached: true }])?.id).toBe("s1");
});

test("why one cannot be gone on with", () => {
  expect(explainNotResumable(one, cli)).toBeUndefined();
  expect(explainNotResumable(one, undefined)).toContain("The agent codex");
  expect(explainNotResumable(one, { ...cli, installed: false })).toContain("not installed");
  expect(explainNotResumable(one, { ...cli, enabled: false })).toContain("turned off");
  const { workingDir: _, ...nowhere } = one;
  expect(explainNotResumable(nowhere, cli)).toContain("folder");
});

test("sums and turns are honest about what was not looked at", () => {
  expect(turnsText(one)).toBe("3 turns");
  expect(turnsText({ ...one, turnsCut: true })).toBe("over 3 turns");
  expect(summarizeSearch({ sessions: [], total: 2 }, "")).toBe("2 conversations");
  expect(summarizeSearch({ sessions: [], total: 0, complete: true }, "x")).toBe("No matches");
  expect(summarizeSearch({ sessions: [], total: 1, complete: false }, "x")).toContain("older ones");
});

test("what was looked for is marked, whatever its case", () => {
  expect(splitByMatch("a Door, a door", "DOOR").filter(({ hit }) => hit)).toHaveLength(2);
  expect(splitByMatch("abc", "")).toEqual([{ text: "abc", hit: false }]);
});
