import { describe, expect, test } from "vitest";
import type { Session } from "../../api/types.ts";
import { matchesFilter, groupSessions, formatSpan } from "./groups.ts";

const session = (id: string, workingDir: string, parentSessionId?: string): Session =>
  ({ id, name: id, workingDir, parentSessionId }) as Session;

describe("groups", () => {
  const list = [session("a", "/srv/api"), session("b", "/srv/web"), session("c", "/srv/api")];
  const shape = (needy: string) =>
    groupSessions(list, (id) => id === needy).map((group) => [
      group.name,
      group.sessions.map(({ session: { id } }) => id),
    ]);

  test("by folder, in the order of the tabs", () => {
    expect(shape("")).toEqual([
      ["api", ["a", "c"]],
      ["web", ["b"]],
    ]);
  });

  test("whoever waits for a person comes first, with its folder", () => {
    expect(shape("b").map(([name]) => name)).toEqual(["web", "api"]);
    expect(shape("c")[0]).toEqual(["api", ["c", "a"]]);
  });

  test("a folder of another machine is none of this one", () => {
    const far = { ...session("f", "/srv/api"), remote: { hostId: "box", name: "service-f", owned: true } };
    const found = groupSessions([session("a", "/srv/api"), far], () => false);
    expect(found.map(({ name }) => name)).toEqual(["srv/api", "box:/srv/api"]);
  });

  describe("children", () => {
    const family = [
      session("child", "/srv/tree", "agent"),
      session("other", "/srv/api"),
      session("agent", "/srv/api"),
      session("grandchild", "/srv/api", "child"),
      session("orphan", "/srv/api", "gone"),
    ];
    const tree = (needy: string) =>
      groupSessions(family, (id) => id === needy).flatMap((group) =>
        group.sessions.map(({ session: { id }, depth }) => `${"-".repeat(depth)}${id}`),
      );

    test("stand below their parents, wherever they work", () => {
      expect(tree("")).toEqual(["other", "agent", "-child", "--grandchild", "orphan"]);
    });

    test("bring the whole family to the front", () => {
      expect(tree("grandchild")).toEqual(["agent", "-child", "--grandchild", "other", "orphan"]);
    });
  });

  test("folders that end alike are told apart", () => {
    const found = groupSessions(
      [session("a", "/x/app"), session("b", "/y/app"), session("c", "/")],
      () => false,
    );
    expect(found.map(({ name }) => name)).toEqual(["x/app", "y/app", "/"]);
  });
});

test.each([
  ["", true],
  ["API claude", true],
  ["api codex", false],
])("the filter %s", (filter, shown) => {
  expect(matchesFilter(session("one", "/srv/api"), "Claude Code", filter)).toBe(shown);
});

test.each([
  [0, "0 s"],
  [59_999, "59 s"],
  [61_000, "1 min"],
  [7_300_000, "2 h"],
])("%i ms are %s", (ms, text) => {
  expect(formatSpan(1000, 1000 + ms)).toBe(text);
});
