import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import type { RestoreOfferResponse, RestorableSessionResponse } from "../../api/types.ts";
import { dispatchServerEvent } from "../../api/stream/events.ts";
import { toasts } from "../../store/toasts.ts";
import {
  restoreSessions,
  dismissOffer,
  followRestore,
  offer,
  outcomes,
  progress,
  restoring,
  summarizeRestore,
} from "./state.ts";
import { describeOffer } from "./texts.ts";
import { describeRestore, describeExpiry, explainFailure } from "./texts.ts";

const service = new FakeService();
const RESTORE = "/api/reboot-restore";
const restore = service.on(`POST ${RESTORE}/restore`);
const dismiss = service.on(`POST ${RESTORE}/dismiss`);
const read = service.on(`GET ${RESTORE}`);

const lost = (part: Partial<RestorableSessionResponse> = {}): RestorableSessionResponse => ({
  id: "s1",
  name: "one",
  workingDir: "/home/demo/one",
  mode: "primary",
  lastActivityAt: 1000,
  resumes: false,
  scrollback: false,
  ...part,
});

const offered = (...sessions: RestorableSessionResponse[]): RestoreOfferResponse => ({
  sessions,
  expiresAt: 5,
  restoring: false,
});

describe("words", () => {
  test("what can come back, and where a restore stands", () => {
    expect(describeOffer(undefined, undefined)).toBeUndefined();
    expect(describeOffer(offered(), undefined)).toBeUndefined();
    expect(describeOffer(offered(lost()), undefined)).toContain("restore 1 session");
    expect(describeOffer(offered(), { sessionId: "s1", done: 1, total: 3 })).toContain("2 of 3");
  });

  test("what will be there", () => {
    expect(describeRestore(lost(), true)).toBe("a new shell in its folder");
    expect(describeRestore(lost({ resumes: true }), false)).toBe("continues its conversation");
    expect(describeRestore(lost({ scrollback: true }), false)).toBe(
      "starts a new conversation, below its earlier output",
    );
  });

  test.each(["already-live", "capacity-reached", "workspace-missing", "workspace-forbidden", "agent-failed"])(
    "%s is told",
    (outcome) => expect(explainFailure({ outcome })).not.toContain(outcome),
  );

  test("an outcome of a later service is told by its name", () => {
    expect(explainFailure({ outcome: "no-power" })).toContain("no-power");
    expect(explainFailure({ outcome: "restored" })).toBeUndefined();
    expect(explainFailure(undefined)).toBeUndefined();
  });

  test("how it went, and how long it stands", () => {
    expect(summarizeRestore(0, 2)).toBe("2 sessions not restored");
    expect(summarizeRestore(2, 0)).toBe("2 sessions restored");
    expect(summarizeRestore(1, 2)).toBe("1 session restored, 2 not");
    expect(describeExpiry(null, 0)).toBe("");
    expect(describeExpiry(5 * 3_600_000, 0)).toContain("5 hours");
    expect(describeExpiry(60_000, 0)).toContain("less than an hour");
  });
});

describe("state", () => {
  beforeEach(() => {
    vi.resetAllMocks();
    read.mockResolvedValue(offered());
    toasts.value = [];
    outcomes.value = new Map();
    progress.value = undefined;
  });
  followRestore();

  test("it is read at the start and at each change", async () => {
    read.mockResolvedValueOnce(offered(lost()));
    dispatchServerEvent("init", {});
    await vi.waitFor(() => expect(offer.value?.sessions).toHaveLength(1));
    dispatchServerEvent("restore:offered", { sessions: 0 });
    await vi.waitFor(() => expect(offer.value?.sessions).toHaveLength(0));
  });

  test("a restore that another page began is followed", async () => {
    dispatchServerEvent("restore:progress", { sessionId: "s1", done: 0, total: 2 });
    expect([restoring.value, progress.value?.total]).toEqual([true, 2]);
    const entries = [
      { sessionId: "s1", outcome: "restored" },
      { sessionId: "s2", outcome: "agent-failed" },
    ];
    dispatchServerEvent("restore:finished", { restored: 1, skipped: 1, entries });
    expect([restoring.value, outcomes.value.get("s2")?.outcome]).toEqual([false, "agent-failed"]);
    expect(toasts.value.map((toast) => toast.tone)).toEqual(["bad"]);
    await vi.waitFor(() => expect(read).toHaveBeenCalledOnce());
  });

  test("a refusal is told", async () => {
    restore.mockRejectedValueOnce(new Error("a restore is running already"));
    await restoreSessions(["s1"]);
    expect(restore.mock.lastCall?.[0].body).toEqual({ sessionIds: ["s1"] });
    expect(toasts.value.map((toast) => toast.title)).toEqual(["Couldn't restore the sessions"]);
  });

  test("a dismissed offer is gone at once", async () => {
    offer.value = offered(lost());
    dismiss.mockResolvedValueOnce({ dismissed: 1 });
    await dismissOffer();
    expect(offer.value).toBeUndefined();
  });
});
