import { beforeEach, describe, expect, test } from "vitest";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import type { Session } from "../../api/types.ts";
import { DEFAULTS, prefs } from "../../store/prefs.ts";
import { createSessionList } from "../../store/sessions.ts";
import { activeId, sessionList } from "../../store/state.ts";
import { narrow, wide } from "../../ui/width.ts";
import { setInbox } from "../approvals/state.ts";
import { selectNext } from "../sessions/actions.ts";
import { formatSpan, groupSessions, initialsOf, matchesFilter } from "./groups.ts";
import {
  filter,
  folded,
  pointed,
  railShown,
  seenSessions,
  sessionNumbers,
  sidebarShown,
  toggleFolded,
} from "./state.ts";

const session = (id: string, workingDir: string, parentSessionId?: string): Session =>
  ({ id, name: id, mode: "shell", workingDir, parentSessionId, status: "idle", pid: 1 }) as Session;

describe("groups", () => {
  const list = [session("a", "/srv/api"), session("b", "/srv/web"), session("c", "/srv/api")];
  const shape = (...needy: string[]) =>
    groupSessions(list, needy).map((group) => [group.name, group.sessions.map(({ session: { id } }) => id)]);

  test("by folder, in the order of the tabs", () => {
    expect(shape()).toEqual([
      ["api", ["a", "c"]],
      ["web", ["b"]],
    ]);
  });

  test("those that need a person stand above, in the order in which they asked; the rest stays", () => {
    expect(shape("b", "c")).toEqual([
      ["Needs you", ["b", "c"]],
      ["api", ["a"]],
    ]);
    expect(shape("c")).toEqual([
      ["Needs you", ["c"]],
      ["api", ["a"]],
      ["web", ["b"]],
    ]);
  });

  test("one that has gone needs nobody", () => {
    expect(shape("gone").map(([name]) => name)).toEqual(["api", "web"]);
  });

  test("a folder of another machine is none of this one", () => {
    const far = { ...session("f", "/srv/api"), remote: { hostId: "box", name: "service-f", owned: true } };
    const found = groupSessions([session("a", "/srv/api"), far], []);
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
    const tree = (...needy: string[]) =>
      groupSessions(family, needy).flatMap((group) =>
        group.sessions.map(({ session: { id }, depth }) => `${"-".repeat(depth)}${id}`),
      );

    test("stand below their parents, wherever they work", () => {
      expect(tree()).toEqual(["other", "agent", "-child", "--grandchild", "orphan"]);
    });

    test("leave alone when they need a person, and keep their place when a parent does", () => {
      expect(tree("grandchild")).toEqual(["grandchild", "other", "agent", "-child", "orphan"]);
      expect(tree("child")).toEqual(["child", "other", "agent", "-grandchild", "orphan"]);
    });
  });

  test("folders that end alike are told apart", () => {
    const found = groupSessions([session("a", "/x/app"), session("b", "/y/app"), session("c", "/")], []);
    expect(found.map(({ name }) => name)).toEqual(["x/app", "y/app", "/"]);
  });
});

describe("the order in which sessions are seen", () => {
  const all = ["/srv/api", "/srv/web", "/srv/api", "/srv/web", "/srv/web", "/srv/api"].map((folder, at) =>
    session(`s${at}`, folder),
  );
  const seen = () => seenSessions.value.map(({ id }) => id).join(" ");
  const ask = (...ids: string[]) =>
    setInbox(() =>
      ids.map((id, at) => ({
        id: `${id}:1`,
        sessionId: id,
        sessionName: id,
        kind: "permission",
        createdAt: at,
        frame: "f",
      })),
    );

  beforeEach(() => {
    hasReceivedInit.value = true;
    sessionList.value = createSessionList(all);
    prefs.value = DEFAULTS;
    wide.value = true;
    narrow.value = false;
    filter.value = "";
    folded.value = new Set();
    pointed.value = false;
    ask();
  });

  test("is that of the list at the side, without what is folded or filtered away", () => {
    expect(seen()).toBe("s0 s2 s5 s1 s3 s4");
    toggleFolded("/srv/api");
    expect(seen()).toBe("s1 s3 s4");
    toggleFolded("/srv/api");
    filter.value = "web";
    expect(seen()).toBe("s1 s3 s4");
  });

  test("begins with those that need a person, oldest first, unless the pointer rests on the list", () => {
    ask("s4", "s0");
    expect(seen()).toBe("s4 s0 s2 s5 s1 s3");
    pointed.value = true;
    ask("s4", "s0", "s3");
    expect(seen()).toBe("s4 s0 s2 s5 s1 s3");
    pointed.value = false;
    expect(seen()).toBe("s4 s0 s3 s2 s5 s1");
  });

  test("is that of the tabs where there are tabs, and of the drawer on a phone", () => {
    prefs.value = { ...DEFAULTS, sessionList: "tabs" };
    expect(seen()).toBe("s0 s1 s2 s3 s4 s5");
    narrow.value = true;
    expect(seen()).toBe("s0 s2 s5 s1 s3 s4");
  });

  test("is what keys and swipes follow", () => {
    activeId.value = "s5";
    selectNext(1);
    expect(activeId.value).toBe("s1");
    selectNext(-1);
    expect(activeId.value).toBe("s5");
    expect([...sessionNumbers.value].slice(0, 4)).toEqual([
      ["s0", 1],
      ["s2", 2],
      ["s5", 3],
      ["s1", 4],
    ]);
  });

  test("is shown by a rail where there is no room for a sidebar, which hides nothing", () => {
    wide.value = false;
    toggleFolded("/srv/api");
    filter.value = "web";
    expect([sidebarShown.value, railShown.value]).toEqual([true, true]);
    expect(seen()).toBe("s0 s2 s5 s1 s3 s4");
    sessionList.value = createSessionList(all.slice(0, 5));
    expect(sidebarShown.value).toBe(false);
  });
});

test.each([
  ["", "idle", true],
  ["API claude", "idle", true],
  ["api codex", "idle", false],
  ["blocked", "attention", true],
  ["waits api", "attention", true],
  ["working", "attention", false],
  ["work", "busy", true],
  ["Done", "done", true],
  ["idle", "done", false],
  ["crashed", "error", true],
  ["running", "busy", true],
  ["running", "idle", false],
  ["running", "ended", false],
  ["re", "idle", false],
] as const)("the filter %s of one that is %s", (words, state, shown) => {
  expect(matchesFilter(session("one", "/srv/api"), "Claude Code", state, words)).toBe(shown);
});

test.each([
  ["hexadecimal floats", "HF"],
  ["parser", "PA"],
  ["x", "X"],
  ["日本語 テスト", "日テ"],
  ["42", "42"],
  ["…", "?"],
])("%s is %s where there is no room", (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

test.each([
  [0, "0 s"],
  [59_999, "59 s"],
  [61_000, "1 min"],
  [7_300_000, "2 h"],
])("%i ms are %s", (ms, text) => {
  expect(formatSpan(1000, 1000 + ms)).toBe(text);
});
