import { expect, test } from "vitest";
import { inputErrorText } from "../api/errors.ts";
import { actionText, detailsOf, isWorded, methodText } from "../audit/words.ts";
import { methodText as deviceText } from "../devices/words.ts";
import { absence, wordOf } from "../git/words.ts";
import type { FileChange, GitStatusResponse } from "../git/types.ts";
import { apply, EMPTY, upsert } from "../store/sessions.ts";
import type { Session } from "../api/types.ts";
import { table } from "./table.ts";

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

test.each(NAMES)("%s is in no table", (name) => {
  expect(table({ a: 1 })[name]).toBeUndefined();
  expect(name in table({ a: 1 })).toBe(false);
});

test.each(NAMES)("%s is text like any other wherever the service's words are looked up", (name) => {
  expect(actionText(name)).toBe(name);
  expect(isWorded(name)).toBe(false);
  expect(methodText(name)).toBe(name);
  expect(deviceText(name)).toBe(`by ${name}`);
  expect(inputErrorText(name)).toBe(`The input was refused (${name}).`);
  const detail = JSON.parse(`{"${name}": "x", "fields": ["${name}"], "bucket": "${name}"}`) as Record<
    string,
    unknown
  >;
  const entry = { seq: 1, at: 1, actor: "", method: "", address: "", action: "", target: "", detail };
  expect(detailsOf(entry)).toEqual([`${name}: x`, `set: ${name.replaceAll("_", " ")}`, `wrong ${name}`]);
  const file = { kind: "unstaged", index: ".", worktree: name, path: "a" } as unknown as FileChange;
  expect(wordOf(file)).toBe("changed");
  const status = { state: "unsupported", reason: name } as unknown as GitStatusResponse;
  expect(absence(status)).toBe("This session's files are not looked at.");
  const list = upsert(EMPTY, { id: "s", mode: "m", name } as Session);
  expect(apply(list, name, { id: "s" }).list).toEqual(list);
});
