import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { TokenResponse } from "../../api/types.ts";
import { bodyOf, EMPTY, expiryOf, validateDraft, toggled } from "./draft.ts";
import {
  labelOf,
  offered,
  SCOPES,
  endsSoon,
  buildExample,
  describeExpiry,
  describeSessions,
  describeLastUse,
} from "./texts.ts";

const NOW = Date.UTC(2027, 0, 10, 12);
const DAY = 24 * 60 * 60 * 1000;
const TOKEN: TokenResponse = {
  id: "t",
  name: "nightly",
  scopes: ["git"],
  sessions: null,
  createdAt: NOW - DAY,
  expiresAt: null,
  lastUsedAt: null,
};
const draft = { ...EMPTY, name: " nightly " };

describe("scopes", () => {
  const source = readFileSync(new URL("../../../../tservice/core/kernel/scopes.py", import.meta.url), "utf8");

  test("are the service's own", () => {
    const theirs = [...source.matchAll(/^ {4}[A-Z_]+ = "([a-z:]+)"$/gm)].map((found) => found[1]);
    expect(SCOPES.map((scope) => scope.id).toSorted()).toEqual(theirs.toSorted());
  });

  test("that make sense for chosen sessions are the service's, too", () => {
    const sets = /^(?:READ_ONLY|SESSION_BOUND)_SCOPES = [^)}]*[)}]/gm;
    const named = [...source.matchAll(sets)].flatMap((line) => line[0].match(/Scope\.([A-Z_]+)/g) ?? []);
    const ids = named.map((name) => {
      const word = name.replace("Scope.", "");
      return new RegExp(`^ {4}${word} = "([a-z:]+)"$`, "m").exec(source)?.[1];
    });
    const bound = SCOPES.filter((scope) => scope.bound).map((scope) => scope.id);
    expect(bound.toSorted()).toEqual(ids.toSorted());
  });

  test("only admins are offered what only admins may", () => {
    const ids = (admin: boolean, limited: boolean) => offered(admin, limited).map((scope) => scope.id);
    expect(ids(true, false)).toContain("admin");
    expect(ids(false, false)).not.toContain("admin");
    expect(ids(true, true)).not.toContain("settings");
    expect([labelOf("git"), labelOf("later")]).toEqual(["Git", "later"]);
  });
});

describe("a draft", () => {
  test.each([
    [{ name: " " }, "name"],
    [{ scopes: [] }, "at least one permission"],
    [{ limited: true, sessions: [] }, "at least one session"],
    [{ limited: true, sessions: ["s"], scopes: ["cron"] }, "at least one permission"],
    [{ scopes: ["admin"] }, "at least one permission"],
    [{ lifetime: "date", date: "" }, "in the future"],
    [{ lifetime: "date", date: "2027-01-08" }, "in the future"],
  ] as const)("%j needs %s", (part, words) => {
    expect(validateDraft({ ...draft, ...part }, false, NOW)).toContain(words);
  });

  test("that is whole is sent without what is no longer offered", () => {
    const whole = { ...draft, scopes: ["git", "cron", "sessions:read"], limited: true, sessions: ["s"] };
    expect(validateDraft(whole, false, NOW)).toBeUndefined();
    expect(bodyOf(whole, false, NOW)).toEqual({
      name: "nightly",
      scopes: ["sessions:read", "git"],
      sessions: ["s"],
      expiresAt: NOW + 30 * DAY,
    });
  });

  test("without an end has none, and a day lasts until its end here", () => {
    expect(bodyOf({ ...draft, lifetime: "never" }, true, NOW)).not.toHaveProperty("expiresAt");
    expect(bodyOf(draft, true, NOW)).not.toHaveProperty("sessions");
    const end = expiryOf({ ...draft, lifetime: "date", date: "2027-03-31" }, NOW);
    expect(end).toBe(new Date(2027, 2, 31, 23, 59, 59).getTime());
  });

  test("a box is ticked once", () => {
    expect([toggled(["a"], "a", true), toggled(["a"], "b", true), toggled(["a", "b"], "a", false)]).toEqual([
      ["a"],
      ["a", "b"],
      ["b"],
    ]);
  });
});

describe("words", () => {
  test("of use and end", () => {
    expect(describeLastUse(TOKEN, NOW)).toBe("never used");
    expect(describeLastUse({ ...TOKEN, lastUsedAt: NOW - 3 * DAY }, NOW)).toBe("last used 3 d ago");
    const ending = (expiresAt: number | null) => ({ ...TOKEN, expiresAt });
    expect([describeExpiry(ending(null), NOW), describeExpiry(ending(NOW), NOW)]).toEqual([
      "never expires",
      "expired",
    ]);
    expect(describeExpiry(ending(NOW + 30 * DAY - 5), NOW)).toBe("expires in 30 d");
    expect([endsSoon(ending(null), NOW), endsSoon(ending(NOW + DAY), NOW)]).toEqual([false, true]);
  });

  test("of reach", () => {
    const nameOf = (id: string) => (id === "a" ? "build" : undefined);
    expect(describeSessions(TOKEN, nameOf)).toBe("all your sessions");
    expect(describeSessions({ ...TOKEN, sessions: ["a", "b"] }, nameOf)).toBe("only build, 1 closed session");
  });

  test("the example keeps a path prefix", () => {
    expect(buildExample("https://h/prefix/?page=tokens")).toContain(" https://h/prefix/api/sessions");
  });
});
