import { describe, expect, test } from "vitest";
import { SESSION } from "../api/sample.ts";
import type { HostCheckResponse, RemoteHost } from "../api/types.ts";
import { toasts } from "../ui/toasts.ts";
import { awayText, canTry, countdown } from "./awaywords.ts";
import { awayIn, hearLost, meaning, onHost } from "./follow.ts";
import { placeOf } from "./place.ts";
import { away, held, isAway } from "./state.ts";
import { hold, tellAway } from "./tell.ts";
import {
  addressOf,
  bodyOf,
  canWake,
  clientsText,
  draftOf,
  EMPTY,
  ending,
  figuresOf,
  problemsOf,
  stateOf,
  wakeWay,
  wokenText,
  wayOut,
} from "./words.ts";

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
    expect(Object.keys(problemsOf(EMPTY))).toEqual(["label", "host", "username"]);
    expect(problemsOf(draftOf(host))).toEqual({});
    for (const port of ["", "0", "65536", "22a", "-1"])
      expect(Object.keys(problemsOf({ ...draftOf(host), port })), port).toEqual(["port"]);
  });
});

describe("in words", () => {
  test("where it is, and how it is woken", () => {
    expect(addressOf(host)).toBe("me@box.lan:2222");
    expect(addressOf({ ...host, host: "::1", port: 22 })).toBe("me@[::1]");
    expect(wakeWay(host)).toContain("packet to 52:54");
    expect(wakeWay({ ...host, wakeCommand: "/bin/wake" })).toBe("wakes by /bin/wake");
    expect(wakeWay({ ...host, wakeMac: "" })).toBeUndefined();
  });

  test("one that may be asleep can be woken, with or without a session there", () => {
    const asked = (part: RemoteHost, found?: HostCheckResponse, away?: boolean) =>
      canWake(part, stateOf(found, away));
    expect(asked(host)).toBe(true);
    expect(asked(host, looked({}))).toBe(true);
    expect(asked(host, looked({ ok: true, hostKey: "known" }), true)).toBe(true);
    expect(asked(host, looked({ ok: true, hostKey: "known" }))).toBe(false);
    expect(asked(host, looked({ hostKey: "unknown" }))).toBe(false);
    expect(asked({ ...host, wakeMac: "" })).toBe(false);
  });

  test("what came of a wake", () => {
    const answer = { woke: true, reachable: false, wakeConfigured: "mac" } as const;
    expect(wokenText({ ...answer, reachable: true })).toBe("It is awake.");
    expect(wokenText({ ...answer, error: "port 22 of box.lan does not answer" })).toBe(
      "It was called, and is not reached: port 22 of box.lan does not answer.",
    );
    expect(wokenText({ ...answer, woke: false })).toBe("It could not be called.");
  });

  test.each([
    [undefined, undefined, "not checked"],
    [undefined, true, "out of reach"],
    [undefined, false, "reached"],
    [looked({ ok: true, hostKey: "known" }), undefined, "reached"],
    [looked({ error: "timed out" }), undefined, "out of reach"],
    [looked({ hostKey: "known", error: "it has no tmux" }), undefined, "cannot be used"],
    [looked({ hostKey: "unknown" }), undefined, "key not trusted"],
    [looked({ hostKey: "changed" }), false, "another key"],
    [looked({ ok: true, hostKey: "known" }), true, "out of reach"],
  ])("how %o with sessions away %o stands", (found, gone, word) => {
    expect(stateOf(found, gone).word).toBe(word);
  });

  test("figures, clients, the end of a fingerprint", () => {
    expect(figuresOf(looked({ ok: true, latencyMs: 12, tmux: "3.5a" }))).toBe(
      "12 ms there and back, tmux 3.5a",
    );
    expect(figuresOf(looked({}))).toBe("");
    const there = { name: "a", created: 1, attached: 0, windows: 2, cols: 80, rows: 24 };
    expect(clientsText(there)).toBe("nobody looks at it · 2 windows · 80×24");
    expect(clientsText({ ...there, attached: 1, windows: 1 })).toBe("1 client · 1 window · 80×24");
    expect(ending("SHA256:abcdefghijkl")).toBe("efghijkl");
    expect(wayOut("case engine uses this host")).toMatch(/^Case engine .*remove its cases first/);
  });
});

describe("where a session lives", () => {
  const remote = { hostId: "box", name: "service-1", owned: true };

  test("one of this machine has no mark", () => {
    expect(placeOf(SESSION)).toBeUndefined();
    expect(placeOf({ ...SESSION, remote })).toMatchObject({ kind: "remote", name: "box" });
    expect(placeOf({ ...SESSION, remote: { ...remote, owned: false } })?.hint).toContain("attached");
    expect(placeOf({ ...SESSION, container: { hostId: "default", name: "service-case-a" } })?.hint).toContain(
      "service-case-a",
    );
  });

  test("what is told of a host holds for all of its sessions", () => {
    const all = [
      { ...SESSION, id: "a", remote },
      { ...SESSION, id: "b" },
      { ...SESSION, id: "c", remote: { ...remote, hostId: "other" } },
      { ...SESSION, id: "d", remote },
    ];
    expect(onHost(all, "box")).toEqual(["a", "d"]);
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
    expect(awayIn({ reachable: true, wakeConfigured: "none" })).toBeUndefined();
    expect(awayIn({ reachable: false, wakeConfigured: "mac", nextAt: 7, error: "refused" })).toEqual({
      nextAt: 7,
      why: "refused",
      wake: "mac",
    });
  });

  test("what is told later is added to what is known", () => {
    tellAway("a", { why: "refused", wake: "mac" });
    tellAway("a", { nextAt: 9 });
    expect(away.value.get("a")).toEqual({ why: "refused", wake: "mac", nextAt: 9 });
    const before = away.value;
    tellAway("b", undefined);
    expect(away.value).toBe(before);
    tellAway("a", undefined);
    expect(isAway("a")).toBe(false);
  });

  test("what is kept is counted until the host is back", () => {
    hold("a", 3);
    tellAway("a", { nextAt: 9 });
    hold("a", 4);
    expect(held.value.get("a")).toBe(7);
    tellAway("a", undefined);
    expect(held.value.has("a")).toBe(false);
  });

  test("what was kept and is not typed is told, and stays", () => {
    hearLost({ id: "a", at: 1, chunks: 2, reason: "You may not type there any more." });
    const [told] = toasts.value.slice(-1);
    expect(told?.text).toBe("2 inputs kept for a will not be typed: You may not type there any more.");
    expect(told?.action?.label).toBe("Show");
    toasts.value = [];
  });

  test("the countdown ends in an attempt, or says that none comes", () => {
    expect(countdown({ nextAt: 12_400 }, 400)).toBe("Next attempt in 12\u00a0s.");
    expect(countdown({ nextAt: 300_000 }, 0)).toBe("Next attempt in 5\u00a0min.");
    expect(countdown({ nextAt: 400 }, 500)).toBe("Trying…");
    expect(countdown({}, 500)).toContain("not tried again");
    expect(awayText("box", {})).toContain("runs on");
    expect(awayText("box", { waking: true })).toBe("Waking box…");
  });

  test("connecting is for admins, waking for whoever has the session", () => {
    expect(canTry({}, true)).toBe(true);
    expect(canTry({ wake: "none" }, false)).toBe(false);
    expect(canTry({ wake: "command" }, false)).toBe(true);
  });
});
