import { expect, test } from "vitest";
import { getInputErrorText } from "../api/errors.ts";
import { describeAction, describeDetails, isWorded, describeMethod } from "../features/audit/texts.ts";
import { describeMethod as deviceText } from "../features/devices/texts.ts";
import type { GitStatusResponse } from "../api/types.ts";
import { explainAbsence, getChangeLabel, type FileChange } from "../features/git/texts.ts";
import { applySessionEvent, EMPTY, upsertSession } from "../store/sessions.ts";
import type { Session } from "../api/types.ts";
import { table } from "../lib/table.ts";

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

test.each(NAMES)("%s is in no table", (name) => {
  expect(table({ a: 1 })[name]).toBeUndefined();
  expect(name in table({ a: 1 })).toBe(false);
});

test.each(NAMES)("%s is text like any other wherever the service's words are looked up", (name) => {
  expect(describeAction(name)).toBe(name);
  expect(isWorded(name)).toBe(false);
  expect(describeMethod(name)).toBe(name);
  expect(deviceText(name)).toBe(`with ${name}`);
  expect(getInputErrorText(name)).toBe(`The server refused the input (${name}).`);
  const detail = JSON.parse(`{"${name}": "x", "fields": ["${name}"], "bucket": "${name}"}`) as Record<
    string,
    unknown
  >;
  const entry = { seq: 1, at: 1, actor: "", method: "", address: "", action: "", target: "", detail };
  expect(describeDetails(entry)).toEqual([
    `${name}: x`,
    `set: ${name.replaceAll("_", " ")}`,
    `wrong ${name}`,
  ]);
  const file = { kind: "unstaged", index: ".", worktree: name, path: "a" } as unknown as FileChange;
  expect(getChangeLabel(file)).toBe("changed");
  const status = { state: "unsupported", reason: name } as unknown as GitStatusResponse;
  expect(explainAbsence(status)).toBe("Changes are not available for this session.");
  const list = upsertSession(EMPTY, { id: "s", mode: "m", name } as Session);
  expect(applySessionEvent(list, name, { id: "s" }).list).toEqual(list);
});
