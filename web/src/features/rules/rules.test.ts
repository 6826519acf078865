import { expect, test } from "vitest";
import type { AnsweredRequestResponse } from "../../api/types.ts";
import { bodyOf, EMPTY, splitWords, validateDraft } from "./draft.ts";
import { findRuleOf } from "./state.ts";
import { describeMatch, describeScope, joinWords } from "./texts.ts";

test("words are split as a shell splits them, and joined again", () => {
  const words = ["npm", "a b", "--x=y"];
  expect(splitWords("npm 'a b'  --x=y")).toEqual(words);
  expect(splitWords('npm "a b" --x=y')).toEqual(words);
  expect(joinWords(words)).toBe("npm 'a b' --x=y");
});

test("a draft becomes the body of a rule", () => {
  const draft = { ...EMPTY, text: " npm test ", note: " tests " };
  expect(bodyOf(draft, 0)).toEqual({
    scope: { all: true },
    tool: "Bash",
    match: { command: { prefix: ["npm", "test"] } },
    action: "allow",
    note: "tests",
  });
  expect(bodyOf({ ...draft, kind: "exact", scope: "case:a:b", lifetime: "hour" }, 5)).toMatchObject({
    scope: { caseName: "a:b" },
    match: { command: { exact: "npm test" } },
    expiresAt: 3_600_005,
  });
  expect(bodyOf({ ...draft, kind: "path", tool: "Edit", scope: "session:s1" }, 0)).toMatchObject({
    scope: { sessionId: "s1" },
    tool: "Edit",
    match: { path: "npm test" },
  });
  expect(validateDraft(EMPTY)).toBeDefined();
  expect(validateDraft(draft)).toBeUndefined();
});

test("a rule is described", () => {
  expect(describeMatch({ command: { prefix: ["npm", "test"] } })).toBe("npm test …");
  expect(describeMatch({ path: "src/**" })).toBe("src/**");
  expect(describeMatch({})).toBe("everything");
  expect(describeScope({ sessionId: "s1" }, () => "one")).toBe("in session one");
  expect(describeScope({ all: true }, () => undefined)).toBe("everywhere");
});

test("a call is told apart from others with the same command", () => {
  const answer = (at: number, rule?: string): AnsweredRequestResponse => ({
    at,
    sessionId: "s1",
    tool: "Bash",
    subject: "npm test",
    answer: "allowed",
    ...(rule === undefined ? {} : { rule }),
  });
  const known = [answer(1_000_000, "tests"), answer(2_000_000)];
  expect(findRuleOf(known, "s1", "npm test", 999_000)).toBe("tests");
  expect(findRuleOf(known, "s1", "npm test", 1_999_000)).toBeUndefined();
  expect(findRuleOf(known, "s1", "npm test", 3_000_000)).toBeUndefined();
  expect(findRuleOf(known, "s2", "npm test", 999_000)).toBeUndefined();
  expect(findRuleOf(known, "s1", undefined, 999_000)).toBeUndefined();
});
