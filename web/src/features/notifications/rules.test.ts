import { describe, expect, test } from "vitest";
import { IDLE_MS, lookedAt } from "./looking.ts";
import { bodyOf, chooseSent, newHook, type Rules, sentBy, startRules, withEvent } from "./rules.ts";

const SHOWN: Rules = {
  custom: false,
  browser: { enabled: true, events: ["stop"] },
  push: { enabled: true, events: ["stop"] },
  webhooks: [],
  onlyUnwatched: false,
  quietHours: { enabled: false, start: "22:00", end: "07:00", timeZone: "UTC", critical: false },
  urgency: {},
  groupFamilies: false,
  digest: false,
};

describe("rules", () => {
  test("begin with today's switches and in the zone of the reader", () => {
    const rules = startRules(SHOWN, "Europe/Berlin");
    expect(rules).toMatchObject({ custom: true, onlyUnwatched: true, push: SHOWN.push });
    expect(rules.quietHours.timeZone).toBe("Europe/Berlin");
  });

  test("webhooks have ids of their own, and an empty URL keeps the saved one", () => {
    const first = newHook([]);
    const second = { ...newHook([first]), url: "https://b.example/" };
    expect([first.id, second.id]).toEqual(["hook-1", "hook-2"]);
    const body = bodyOf({ ...SHOWN, webhooks: [first, second] });
    expect(body.webhooks[0]).not.toHaveProperty("url");
    expect(body.webhooks[1]).toMatchObject({ id: "hook-2", url: "https://b.example/" });
    expect(body.webhooks[0]).not.toHaveProperty("urlMasked");
  });

  test("an event is chosen and taken back", () => {
    expect(withEvent(["stop"], "permission_prompt", true)).toEqual(["permission_prompt", "stop"]);
    expect(withEvent(["stop"], "stop", false)).toEqual([]);
  });

  test("a webhook gets a scope, or chosen events that begin with those of its scope", () => {
    const urgency: Rules["urgency"] = { error: "critical", stop: "info", exit: "warning" };
    const hook = newHook([]);
    expect(sentBy(hook)).toBe("attention");
    const events = chooseSent(hook, "chosen", urgency).events;
    expect(events).toContain("exit");
    expect(events).not.toContain("stop");
    expect(chooseSent({ ...hook, scope: "all" }, "chosen", urgency).events).toContain("stop");
    const chosen = { ...hook, events: ["stop" as const] };
    expect(sentBy(chosen)).toBe("chosen");
    expect(chooseSent(chosen, "chosen", urgency)).toEqual({ events: ["stop"] });
    expect(chooseSent(chosen, "all", urgency)).toEqual({ scope: "all", events: null });
  });
});

describe("looked at", () => {
  const page = { visible: true, focused: true, touchedAt: 0, now: 1000 };

  test("what is in sight of somebody", () => expect(lookedAt("a", page)).toBe("a"));

  test.each([[{ ...page, visible: false }], [{ ...page, focused: false }], [{ ...page, now: IDLE_MS }]])(
    "nothing with %o",
    (now) => expect(lookedAt("a", now)).toBeUndefined(),
  );
});
