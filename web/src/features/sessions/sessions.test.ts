import { describe, expect, test } from "vitest";
import type { CliItem, Session } from "../../api/types.ts";
import {
  bodyOf,
  choices,
  firstDraft,
  firstMode,
  nameBranch,
  FOLDERS_MAX,
  folderWords,
  parseRemembered,
  placeOf,
  recentFolders,
  remember,
  suggestBranch,
} from "./newsession.ts";
import { moveSession, neighbour } from "./order.ts";
import { describeExit, livePid, getDisplayState } from "./status.ts";

const place = (id: string, pinned = false) => ({ id, pinned });
const shown = [place("p", true), place("q", true), place("a"), place("b"), place("c")];

describe("moved", () => {
  test.each([
    ["a", 4, ["p", "q", "b", "c", "a"]],
    ["c", 2, ["p", "q", "c", "a", "b"]],
    ["c", 0, ["p", "q", "c", "a", "b"]],
    ["p", 1, ["q", "p", "a", "b", "c"]],
    ["p", 4, ["q", "p", "a", "b", "c"]],
  ])("%s to %i", (id, to, wanted) => {
    expect(moveSession(shown, id, to)).toEqual(wanted);
  });

  test("what stays in its place moves nothing", () => {
    expect(moveSession(shown, "a", 2)).toBeUndefined();
    expect(moveSession(shown, "q", 9)).toBeUndefined();
    expect(moveSession(shown, "x", 1)).toBeUndefined();
  });
});

describe("neighbour", () => {
  test("goes around", () => {
    expect(neighbour(["a", "b"], "b", 1)).toBe("a");
    expect(neighbour(["a", "b"], "a", -1)).toBe("b");
    expect(neighbour(["a", "b"], undefined, 1)).toBe("a");
    expect(neighbour(["a", "b"], "x", -1)).toBe("b");
    expect(neighbour([], "a", 1)).toBeUndefined();
  });
});

const cli = (id: string, part: Partial<CliItem> = {}): CliItem => ({
  id,
  label: id,
  shortBadge: id,
  order: 0,
  kind: "agent",
  enabled: true,
  stock: true,
  installed: true,
  ...part,
});

describe("new session", () => {
  const entries = [
    cli("gone", { installed: false, installCommand: "npm install gone" }),
    cli("own", { installed: false, stock: false }),
    cli("elsewhere", { installed: false }),
    cli("off", { enabled: false }),
    cli("shell"),
    cli("agent"),
  ];

  test("ready ones come first, switched-off ones not at all", () => {
    expect(choices(entries).map((entry) => entry.id)).toEqual(["shell", "agent", "gone", "own"]);
  });

  test("the first wish that can be met", () => {
    expect(firstMode(entries, ["gone", undefined, "agent"])).toBe("agent");
    expect(firstMode(entries, ["off"])).toBe("shell");
    expect(firstMode([], ["shell"])).toBe("");
  });

  test("sends only what was chosen", () => {
    expect(bodyOf({ mode: "shell", workingDir: " ", name: "" })).toEqual({ start: true, mode: "shell" });
    const ofCase = { mode: "shell", workingDir: "/c", caseName: "c", name: "" };
    expect(bodyOf(ofCase)).toEqual({ start: true, mode: "shell", caseName: "c" });
    expect(bodyOf({ ...ofCase, prompt: "x", params: { model: " m ", effort: "" } })).toEqual({
      start: true,
      mode: "shell",
      caseName: "c",
      params: { model: "m" },
    });
    expect(bodyOf({ ...ofCase, branch: " fix/x " })).toMatchObject({ worktree: { branch: "fix/x" } });
    expect(bodyOf({ ...ofCase, caseName: "", branch: "fix/x" })).toEqual({
      start: true,
      mode: "shell",
      workingDir: "/c",
      worktree: { branch: "fix/x" },
    });
    expect(bodyOf({ mode: "shell", workingDir: "", name: "", branch: "x" })).toEqual({
      start: true,
      mode: "shell",
    });
    expect(bodyOf({ mode: "shell", workingDir: "/a ", name: " n " }, { cols: 9, rows: 8 })).toEqual({
      start: true,
      mode: "shell",
      workingDir: "/a",
      name: "n",
      cols: 9,
      rows: 8,
    });
  });

  test("remembers the last folders, the newest first and each once", () => {
    let kept = parseRemembered(null);
    for (let n = 0; n < FOLDERS_MAX + 3; n++)
      kept = remember(kept, { mode: "shell", workingDir: `/${n}`, name: "" });
    kept = remember(kept, { mode: "agent", workingDir: "/9", name: "" });
    expect(kept.mode).toBe("agent");
    expect(kept.folders).toHaveLength(FOLDERS_MAX);
    expect(kept.folders.slice(0, 2)).toEqual(["/9", "/10"]);
    expect(parseRemembered(JSON.stringify(kept))).toEqual(kept);
  });

  test("remembers where a worktree was wanted, until it is not", () => {
    const draft = { mode: "shell", workingDir: "/a", name: "" };
    const kept = remember(parseRemembered(null), { ...draft, branch: "fix" });
    expect(kept.worktrees).toEqual(["/a"]);
    expect(parseRemembered(JSON.stringify(kept))).toEqual(kept);
    expect(remember(kept, { ...draft, workingDir: "/b" }).worktrees).toEqual(["/a"]);
    expect(remember(kept, draft).worktrees).toEqual([]);
  });

  test.each([
    ["Fix the Login form, please", "fix-the-login-form"],
    ["Überprüfe: das!", "uberprufe-das"],
    ["修复登录", "work"],
    [undefined, "work"],
  ])("%s: the branch %s", (prompt, branch) => {
    expect(suggestBranch(prompt, "work")).toBe(branch);
  });

  test("a branch without words has the time in its name", () => {
    expect(nameBranch(new Date("2026-11-28T12:03:04Z"))).toBe("agent-1128-1203");
  });

  test.each(["{", "null", "[]", '{"folders":7,"mode":1}', '{"folders":[1,null]}'])(
    "stored %s is no harm",
    (text) => {
      expect(parseRemembered(text)).toEqual({ folders: [], worktrees: [] });
    },
  );

  test("offers each folder once and starts in the default one", () => {
    const open = [{ workingDir: "/b" }, { workingDir: "/a" }] as Session[];
    expect(recentFolders({ folders: ["/a"], worktrees: [] }, open, { defaultWorkingDir: "/d" })).toEqual([
      "/a",
      "/b",
      "/d",
    ]);
    expect(
      firstDraft(entries, { folders: ["/a"], worktrees: [] }, { defaultWorkingDir: "/d" }).workingDir,
    ).toBe("/d");
    expect(firstDraft(entries, { folders: ["/a"], worktrees: [] }, {}).workingDir).toBe("/a");
  });

  test("begin in the folder of the session in front, where none was chosen yet", () => {
    const nothing = { folders: [], worktrees: [] };
    const front = { workingDir: "/f" } as Session;
    expect(firstDraft(entries, nothing, {}, front).workingDir).toBe("/f");
    expect(
      firstDraft(entries, nothing, {}, { ...front, remote: { host: "h" } } as unknown as Session).workingDir,
    ).toBe("");
    expect(firstDraft(entries, { ...nothing, folders: ["/a"] }, {}, front).workingDir).toBe("/a");
  });
});

describe("status", () => {
  const base = { pid: 1, status: "idle" } as Session;

  test.each([
    [{}, false, "idle"],
    [{ status: "busy" }, false, "busy"],
    [{ status: "busy" }, true, "attention"],
    [{ pid: null }, true, "ended"],
    [{ pid: null, detached: true }, false, "detached"],
    [{ status: "stopped" }, false, "stopped"],
    [{ status: "error", pid: null }, true, "error"],
    [{ limitPaused: true, status: "busy" }, false, "paused"],
  ] as const)("%o, attention %s: %s", (part, attention, look) => {
    expect(getDisplayState({ ...base, ...part }, attention)).toBe(look);
  });

  test("a detached process is none of this service's", () => {
    expect(livePid({ ...base, pid: 7 })).toBe(7);
    expect(livePid({ ...base, pid: 7, detached: true })).toBeNull();
    expect(livePid(undefined)).toBeNull();
  });

  test("an unknown exit status is not called a success", () => {
    const dead = { ...base, pid: null };
    expect(describeExit({ ...dead, paneExit: { at: 1 } })).toBe("The program exited.");
    expect(describeExit({ ...dead, paneExit: { at: 1, status: 3 } })).toContain("status 3");
    expect(describeExit({ ...dead, paneExit: { at: 1, signal: "SIGKILL" } })).toContain("signal SIGKILL");
    expect(describeExit(dead)).toContain("No program");
    const told = { paneExit: { at: 1, status: 137, reason: "container-killed" } };
    expect(describeExit({ ...dead, ...told, statusReason: "its container was killed" })).toBe(
      "Its container was killed.",
    );
    expect(describeExit({ ...dead, ...told })).toContain("status 137");
  });
});

describe("what a folder brings", () => {
  const draft = { mode: "primary", workingDir: " /srv/a ", name: "" };
  const found = { workingDir: "/srv/a", summary: "", missing: 0 };

  test("is asked with the fields of the session", () => {
    expect(placeOf(draft)).toEqual({ mode: "primary", workingDir: "/srv/a" });
    expect(placeOf({ ...draft, caseName: "a" })).toEqual({ mode: "primary", caseName: "a" });
    expect(placeOf({ ...draft, workingDir: "" })).toEqual({ mode: "primary" });
  });

  test("is said where there is something", () => {
    expect(folderWords({ ...found, state: "nothing", paths: [] })).toBeUndefined();
    const four = folderWords({ ...found, state: "asks", paths: ["a", "b", "c", "d"], missing: 2000 });
    expect(four).toContain("inbox before the session starts (a, b, c, …); 2,000 characters");
    expect(folderWords({ ...found, state: "trusted", paths: ["a"] })).toBe(
      "You trust what runs in this folder (a)",
    );
  });
});
