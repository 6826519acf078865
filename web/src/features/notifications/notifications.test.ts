import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { arrivals, DEFAULT_PREFERENCES, isMuted, mayNotify, maySound, readPreferences } from "./start.ts";
import { keyBytes } from "./deviceswitch.ts";

const item = (id: string): ApprovalItemResponse => ({
  id,
  sessionId: "s",
  sessionName: "one",
  kind: "idle",
  createdAt: 0,
  frame: "idle",
});

describe("arrivals", () => {
  test("only what was not there before", () => {
    expect(arrivals(new Set(["a"]), [item("a"), item("b")]).map((each) => each.id)).toEqual(["b"]);
  });

  const preferences = { enabled: true, sound: false, events: ["permission_prompt"] as ["permission_prompt"] };
  const now = { preferences, here: true, hidden: true };

  test("told when everything agrees", () => expect(mayNotify("permission_prompt", now)).toBe(true));

  test.each([
    [{ ...now, here: false }],
    [{ ...now, hidden: false }],
    [{ ...now, preferences: { ...preferences, enabled: false } }],
    [{ ...now, preferences: { ...preferences, events: [] } }],
  ])("not told with %o", (situation) => expect(mayNotify("permission_prompt", situation)).toBe(false));

  test("a pause silences, and a question ends the one without an end", () => {
    expect(isMuted(undefined, "stop")).toBe(false);
    expect(isMuted({}, "stop")).toBe(false);
    expect(isMuted({ snooze: { until: 5 } }, "permission_prompt")).toBe(true);
    expect(isMuted({ snooze: {} }, "stop")).toBe(true);
    expect(isMuted({ snooze: {} }, "permission_prompt")).toBe(false);
  });

  test("a sound needs no hidden page", () => {
    expect(maySound("permission_prompt", preferences)).toBe(false);
    expect(maySound("permission_prompt", { ...preferences, sound: true })).toBe(true);
    expect(maySound("stop", { ...preferences, sound: true })).toBe(false);
  });

  test.each([undefined, null, {}, { enabled: "yes", events: "all" }])("%o means the defaults", (value) => {
    expect(readPreferences(value)).toEqual(DEFAULT_PREFERENCES);
  });
});

describe("key", () => {
  const point = Uint8Array.from({ length: 65 }, (_, n) => (n === 0 ? 4 : 255 - n));
  const text = btoa(String.fromCharCode(...point))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace("=", "");

  test("base64url without padding", () => expect(keyBytes(text)).toEqual(point));

  test.each(["", "AAAA", btoa("x".repeat(65))])("%s is no key", (bad) =>
    expect(() => keyBytes(bad)).toThrow(),
  );
});

interface Page {
  url: string;
  visibilityState: string;
  focus: () => Promise<void>;
  postMessage: (message: unknown) => void;
}

/** What is built from src/worker. */
interface Parts {
  asked: (sessionId: unknown) => Promise<object | undefined>;
  answered: (action: string, data: unknown) => Promise<string>;
}

const SCOPE = "https://host.example/base/";

/** The worker as the browser would run it: a classic script with `self` as its world. */
function worker(pages: Page[], parts: Partial<Parts> = {}) {
  const listeners = new Map<string, (event: unknown) => void>();
  const shown = vi.fn();
  const opened = vi.fn();
  const loaded = vi.fn();
  const self = {
    parts: { asked: async () => undefined, answered: async () => "none", ...parts },
    clients: { matchAll: async () => pages, openWindow: opened, claim: async () => undefined },
    registration: { scope: SCOPE, showNotification: shown },
    skipWaiting: vi.fn(),
    addEventListener: (name: string, listener: (event: unknown) => void) => listeners.set(name, listener),
  };
  const source = readFileSync(new URL("../../../public/sw.js", import.meta.url), "utf8");
  new Function("self", "importScripts", source)(self, loaded);
  expect(loaded).toHaveBeenCalledWith("sw-parts.js");
  const tell = async (name: string, event: object) => {
    let work: Promise<unknown> = Promise.resolve();
    listeners.get(name)?.({ ...event, waitUntil: (promise: Promise<unknown>) => (work = promise) });
    await work;
  };
  return { tell, shown, opened };
}

const page = (part: Partial<Page> = {}): Page => ({
  url: `${SCOPE}?session=a`,
  visibilityState: "hidden",
  focus: vi.fn(async () => undefined),
  postMessage: vi.fn(),
  ...part,
});

const data = (value: unknown) => ({ json: () => value });

describe("service worker", () => {
  const PUSH = { kind: "permission_prompt", sessionId: "s1", sessionName: "build" };

  test("shows who needs what, one notification a session", async () => {
    const { tell, shown } = worker([page()]);
    await tell("push", { data: data(PUSH) });
    expect(shown).toHaveBeenCalledWith(
      "build",
      expect.objectContaining({
        body: "asks for permission",
        tag: "tservice-s1",
        icon: `${SCOPE}icons/icon-192.png`,
        data: { sessionId: "s1", page: "approvals" },
      }),
    );
  });

  test("silent while a page is in sight", async () => {
    const { tell, shown } = worker([page({ visibilityState: "visible" })]);
    await tell("push", { data: data(PUSH) });
    expect(shown).not.toHaveBeenCalled();
  });

  test.each([null, data(null), { json: () => JSON.parse("{") }, data({ kind: "new" })])(
    "%o still shows something",
    async (payload) => {
      const { tell, shown } = worker([]);
      await tell("push", { data: payload });
      expect(shown).toHaveBeenCalledTimes(1);
    },
  );

  test("what is asked takes the place of the short word, with its answers", async () => {
    const asked = {
      body: "wants to use Bash: ls",
      actions: [{ action: "deny", title: "Deny" }],
      data: { frame: "f" },
    };
    const { tell, shown } = worker([], { asked: async () => asked });
    await tell("push", { data: data(PUSH) });
    const shownData = { frame: "f", page: "approvals" };
    expect(shown).toHaveBeenCalledWith(
      "build",
      expect.objectContaining({ ...asked, data: shownData, tag: "tservice-s1" }),
    );
  });

  const pressed = {
    action: "deny",
    notification: {
      title: "build",
      tag: "t",
      icon: "i",
      close: vi.fn(),
      data: { sessionId: "s1", frame: "f" },
    },
  };

  test.each([
    ["taken", 0],
    ["refused", 1],
  ])("an answer that was %s leads nowhere, and says what went wrong", async (outcome, said) => {
    const answered = vi.fn(async () => outcome);
    const { tell, shown, opened } = worker([], { answered });
    await tell("notificationclick", pressed);
    expect(answered).toHaveBeenCalledWith("deny", pressed.notification.data);
    expect(shown).toHaveBeenCalledTimes(said);
    expect(opened).not.toHaveBeenCalled();
  });

  const click = (sessionId?: string, wanted?: string) => ({
    action: "",
    notification: { close: vi.fn(), data: { sessionId, page: wanted } },
  });

  test.each([
    ["elicitation_dialog", "approvals"],
    ["stalled", undefined],
    ["stop", undefined],
  ])("a notification of %s leads to the page %s", async (kind, wanted) => {
    const { tell, shown } = worker([]);
    await tell("push", { data: data({ ...PUSH, kind }) });
    const given = expect.objectContaining({ data: { sessionId: "s1", page: wanted } });
    expect(shown).toHaveBeenCalledWith("build", given);
  });

  test("a click on a question opens its card", async () => {
    const { tell, opened } = worker([]);
    await tell("notificationclick", click("s1", "approvals"));
    expect(opened).toHaveBeenCalledWith(`${SCOPE}?session=s1&page=approvals`);
    const open = page();
    await worker([open]).tell("notificationclick", click("s1", "approvals"));
    const told = { type: "open-session", sessionId: "s1", page: "approvals" };
    expect(open.postMessage).toHaveBeenCalledWith(told);
  });

  test("a click without a page opens the session's", async () => {
    const { tell, opened } = worker([page({ url: "https://host.example/other/" })]);
    await tell("notificationclick", click("s 1"));
    expect(opened).toHaveBeenCalledWith(`${SCOPE}?session=s+1`);
  });

  test("a click leads an open page to the session", async () => {
    const open = page();
    const { tell, opened } = worker([open]);
    const event = click("s1");
    await tell("notificationclick", event);
    expect(open.postMessage).toHaveBeenCalledWith(
      expect.objectContaining({ type: "open-session", sessionId: "s1" }),
    );
    expect(open.focus).toHaveBeenCalled();
    expect(opened).not.toHaveBeenCalled();
    expect(event.notification.close).toHaveBeenCalled();
  });
});
