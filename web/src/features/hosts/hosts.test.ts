import { describe, expect, test } from "vitest";
import { SESSION } from "../../api/sample.ts";
import type { HostCheckResponse, RemoteHost } from "../../api/types.ts";
import { toasts } from "../../store/toasts.ts";
import {
  describeUnreachable,
  canReconnect,
  describeNextTry,
  toUnreachable,
  reportLostInput,
  meaning,
  listSessionsOnHost,
  describeLocation,
} from "./parts.tsx";
import { unreachableSessions, queuedInput, isUnreachable } from "./state.ts";
import { addQueuedInput, setUnreachable } from "./unreachable.ts";
import {
  formatAddress,
  bodyOf,
  canWake,
  describeTmuxSession,
  draftOf,
  EMPTY,
  getFingerprintEnding,
  formatCheckFigures,
  validateDraft,
  getHostState,
  describeWakeMethod,
  describeWakeResult,
  addAdvice,
} from "./texts.ts";

const host: RemoteHost = {
  id: "box",
  label: "Box",
  host: "box.lan",
  username: "me",
  port: 2222,
  identityFile: "~/.ssh/box",
  extraSshOptions: ["Compression=yes", "AddressFamily=inet"],
  commands: { primary: "/opt/claude" },
  wakeMac: "52:54:00:12:34:56",
};
const looked = (part: Partial<HostCheckResponse>): HostCheckResponse => ({ ok: false, ...part });

describe("the form", () => {
  test("a host goes in and comes out the same, without its id", () => {
    const { id: _, ...body } = host;
    expect(bodyOf(draftOf(host))).toEqual(body);
  });

  test("blanks are cut and empty fields left out", () => {
    const draft = { ...EMPTY, label: " Box ", host: "box ", username: "me", extraSshOptions: "\n A=b \n\n" };
    expect(bodyOf({ ...draft, commands: { shell: "  " } })).toEqual({
      label: "Box",
      host: "box",
      username: "me",
      port: 22,
      extraSshOptions: ["A=b"],
      commands: {},
    });
  });

  test("what is wrong is said at its field", () => {
    expect(Object.keys(validateDraft(EMPTY))).toEqual(["label", "host", "username"]);
    expect(validateDraft(draftOf(host))).toEqual({});
    for (const port of ["", "0", "65536", "22a", "-1"])
      expect(Object.keys(validateDraft({ ...draftOf(host), port })), port).toEqual(["port"]);
  });
});

describe("in words", () => {
  test("where it is, and how it is woken", () => {
    expect(formatAddress(host)).toBe("me@box.lan:2222");
    expect(formatAddress({ ...host, host: "::1", port: 22 })).toBe("me@[::1]");
    expect(describeWakeMethod(host)).toContain("wake-on-LAN (52:54");
    expect(describeWakeMethod({ ...host, wakeCommand: "/bin/wake" })).toBe("wakes with /bin/wake");
    expect(describeWakeMethod({ ...host, wakeMac: "" })).toBeUndefined();
  });

  test("one that may be asleep can be woken, with or without a session there", () => {
    const asked = (part: RemoteHost, found?: HostCheckResponse, away?: boolean) =>
      canWake(part, getHostState(found, away));
    expect(asked(host)).toBe(true);
    expect(asked(host, looked({}))).toBe(true);
    expect(asked(host, looked({ ok: true, hostKey: "known" }), true)).toBe(true);
    expect(asked(host, looked({ ok: true, hostKey: "known" }))).toBe(false);
    expect(asked(host, looked({ hostKey: "unknown" }))).toBe(false);
    expect(asked({ ...host, wakeMac: "" })).toBe(false);
  });

  test("what came of a wake", () => {
    const answer = { woke: true, reachable: false, wakeConfigured: "mac" } as const;
    expect(describeWakeResult({ ...answer, reachable: true })).toBe("The host is awake.");
    expect(describeWakeResult({ ...answer, error: "port 22 of box.lan does not answer" })).toBe(
      "Sent the wake-up call, but the host is still unreachable: port 22 of box.lan does not answer.",
    );
    expect(describeWakeResult({ ...answer, woke: false })).toBe("Couldn't send the wake-up call.");
  });

  test.each([
    [undefined, undefined, "not checked"],
    [undefined, true, "unreachable"],
    [undefined, false, "reachable"],
    [looked({ ok: true, hostKey: "known" }), undefined, "reachable"],
    [looked({ error: "timed out" }), undefined, "unreachable"],
    [looked({ hostKey: "known", error: "it has no tmux" }), undefined, "not usable"],
    [looked({ hostKey: "unknown" }), undefined, "key not trusted"],
    [looked({ hostKey: "changed" }), false, "key changed"],
    [looked({ ok: true, hostKey: "known" }), true, "unreachable"],
  ])("how %o with sessions away %o stands", (found, gone, word) => {
    expect(getHostState(found, gone).word).toBe(word);
  });

  test("figures, clients, the end of a fingerprint", () => {
    expect(formatCheckFigures(looked({ ok: true, latencyMs: 12, tmux: "3.5a" }))).toBe(
      "12 ms round trip, tmux 3.5a",
    );
    expect(formatCheckFigures(looked({}))).toBe("");
    const there = { name: "a", created: 1, attached: 0, windows: 2, cols: 80, rows: 24 };
    expect(describeTmuxSession(there)).toBe("no clients · 2 windows · 80×24");
    expect(describeTmuxSession({ ...there, attached: 1, windows: 1 })).toBe("1 client · 1 window · 80×24");
    expect(getFingerprintEnding("SHA256:abcdefghijkl")).toBe("efghijkl");
    expect(addAdvice("case engine uses this host")).toMatch(/^Case engine .*remove its workspaces first/);
  });
});

describe("where a session lives", () => {
  const remote = { hostId: "box", name: "service-1", owned: true };

  test("one of this machine has no mark", () => {
    expect(describeLocation(SESSION)).toBeUndefined();
    expect(describeLocation({ ...SESSION, remote })).toMatchObject({ kind: "remote", name: "box" });
    expect(describeLocation({ ...SESSION, remote: { ...remote, owned: false } })?.hint).toContain(
      "a tmux session",
    );
    expect(
      describeLocation({ ...SESSION, container: { hostId: "default", name: "service-case-a" } })?.hint,
    ).toContain("service-case-a");
  });

  test("what is told of a host holds for all of its sessions", () => {
    const all = [
      { ...SESSION, id: "a", remote },
      { ...SESSION, id: "b" },
      { ...SESSION, id: "c", remote: { ...remote, hostId: "other" } },
      { ...SESSION, id: "d", remote },
    ];
    expect(listSessionsOnHost(all, "box")).toEqual(["a", "d"]);
  });
});

describe("away", () => {
  test("each event has its meaning, and only one ends it", () => {
    expect(meaning("remote:sessionDropped", { id: "a", nextAt: 5 })).toEqual({ nextAt: 5, waking: false });
    expect(meaning("remote:reconnectExhausted", { id: "a" })).toEqual({ nextAt: undefined, waking: false });
    expect(meaning("remote:hostWaking", { hostId: "box" })).toEqual({ waking: true });
    expect(meaning("remote:hostWakeFailed", { hostId: "box", reason: "no answer" })?.why).toContain(
      "no answer",
    );
    expect(meaning("remote:sessionReconnected", { id: "a" })).toBeUndefined();
  });

  test("an answer that reaches is none", () => {
    expect(toUnreachable({ reachable: true, wakeConfigured: "none" })).toBeUndefined();
    expect(toUnreachable({ reachable: false, wakeConfigured: "mac", nextAt: 7, error: "refused" })).toEqual({
      nextAt: 7,
      why: "refused",
      wake: "mac",
    });
  });

  test("what is told later is added to what is known", () => {
    setUnreachable("a", { why: "refused", wake: "mac" });
    setUnreachable("a", { nextAt: 9 });
    expect(unreachableSessions.value.get("a")).toEqual({ why: "refused", wake: "mac", nextAt: 9 });
    const before = unreachableSessions.value;
    setUnreachable("b", undefined);
    expect(unreachableSessions.value).toBe(before);
    setUnreachable("a", undefined);
    expect(isUnreachable("a")).toBe(false);
  });

  test("what is kept is counted until the host is back", () => {
    addQueuedInput("a", 3);
    setUnreachable("a", { nextAt: 9 });
    addQueuedInput("a", 4);
    expect(queuedInput.value.get("a")).toBe(7);
    setUnreachable("a", undefined);
    expect(queuedInput.value.has("a")).toBe(false);
  });

  test("what was kept and is not typed is told, and stays", () => {
    reportLostInput({ id: "a", at: 1, chunks: 2, reason: "You may not type there any more." });
    const [told] = toasts.value.slice(-1);
    expect(told?.text).toBe("2 queued inputs for a won't be typed: You may not type there any more.");
    expect(told?.action?.label).toBe("Show");
    toasts.value = [];
  });

  test("the countdown ends in an attempt, or says that none comes", () => {
    expect(describeNextTry({ nextAt: 12_400 }, 400)).toBe("Next try in 12\u00a0s.");
    expect(describeNextTry({ nextAt: 300_000 }, 0)).toBe("Next try in 5\u00a0min.");
    expect(describeNextTry({ nextAt: 400 }, 500)).toBe("Connecting…");
    expect(describeNextTry({}, 500)).toContain("No automatic retry");
    expect(describeUnreachable("box", {})).toContain("keep running");
    expect(describeUnreachable("box", { waking: true })).toBe("Waking box…");
  });

  test("connecting is for admins, waking for whoever has the session", () => {
    expect(canReconnect({}, true)).toBe(true);
    expect(canReconnect({ wake: "none" }, false)).toBe(false);
    expect(canReconnect({ wake: "command" }, false)).toBe(true);
  });
});
