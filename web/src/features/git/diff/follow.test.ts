import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../../api/errors.ts";
import type { Session } from "../../../api/types.ts";
import { createSessionList } from "../../../store/sessions.ts";
import { activeId, sessionList } from "../../../store/state.ts";
import { hasReceivedInit, streamState } from "../../../api/stream/connection.ts";
import { FakeService } from "../../../api/fakeservice.ts";
import { dispatchServerEvent } from "../../../api/stream/events.ts";
import { followGit } from "./follow.ts";
import { EVERY_MS, GAP_MS, LEAST_MS, SETTLE_MS, answers } from "../state.ts";

const status = { state: "not-a-repo" as const, repos: [], reposTruncated: false, checkedAt: 1 };
const asked = () => read.mock.calls.map(([{ path }]) => path["id"]);

/** What the page listens to, kept so that a test can hide the page. */
const page = { visibilityState: "visible", listeners: new Map<string, (event: unknown) => void>() };

vi.useFakeTimers();
const read = new FakeService().on("GET /api/sessions/{id}/git-status");
vi.stubGlobal("document", {
  baseURI: "http://service/",
  get visibilityState() {
    return page.visibilityState;
  },
  addEventListener: (name: string, listener: (event: unknown) => void) => page.listeners.set(name, listener),
});
followGit();

function show(visible: boolean): void {
  page.visibilityState = visible ? "visible" : "hidden";
  page.listeners.get("visibilitychange")?.({});
}

const session = (id: string, part: Partial<Session> = {}) =>
  ({ id, name: id, mode: "shell", ...part }) as Session;

beforeEach(() => {
  read.mockReset().mockResolvedValue(status);
  answers.value = new Map();
  sessionList.value = createSessionList([session("a"), session("b"), session("far", { location: "remote" })]);
  [streamState.value, hasReceivedInit.value, activeId.value] = ["open", true, "a"];
  show(true);
});

afterEach(() => {
  activeId.value = undefined;
  show(false);
});

describe("workspaces are read", () => {
  test("when a session is shown, and while it stays", async () => {
    await vi.advanceTimersByTimeAsync(SETTLE_MS);
    expect(asked()).toEqual(["a"]);
    expect(answers.value.get("a")?.status).toEqual(status);
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(asked()).toEqual(["a", "a"]);
  });

  test("when an agent's turn ends, in front or not", async () => {
    await vi.advanceTimersByTimeAsync(SETTLE_MS + LEAST_MS);
    dispatchServerEvent("session:stop", { id: "b" });
    dispatchServerEvent("session:stop", { id: "a" });
    await vi.advanceTimersByTimeAsync(2 * GAP_MS);
    expect(asked()).toEqual(["a", "a", "b"]);
  });

  test("for a mere pause only in front", async () => {
    await vi.advanceTimersByTimeAsync(SETTLE_MS + LEAST_MS);
    dispatchServerEvent("session:idle", { id: "b" });
    dispatchServerEvent("session:idle", { id: "a" });
    await vi.advanceTimersByTimeAsync(2 * GAP_MS);
    expect(asked()).toEqual(["a", "a"]);
  });

  test("never of a hidden or unconnected page, another host, or a session that nobody knows", async () => {
    show(false);
    dispatchServerEvent("session:stop", { id: "b" });
    await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
    show(true);
    streamState.value = "retrying";
    await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
    [streamState.value, activeId.value] = ["open", "far"];
    for (const id of ["far", "who"]) dispatchServerEvent("session:stop", { id });
    await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
    expect(asked()).toEqual([]);
  });

  test("after a command that was entered in the terminal in front", async () => {
    vi.stubGlobal(
      "Element",
      class {
        closest = () => ({});
      },
    );
    await vi.advanceTimersByTimeAsync(SETTLE_MS + LEAST_MS);
    page.listeners.get("keydown")?.({ key: "x", target: new Element() });
    page.listeners.get("keydown")?.({ key: "Enter", target: new Element() });
    await vi.advanceTimersByTimeAsync(1_500);
    expect(asked()).toEqual(["a", "a"]);
  });
});

describe("an answer", () => {
  test("is forgotten with its session", async () => {
    await vi.advanceTimersByTimeAsync(SETTLE_MS);
    dispatchServerEvent("session:deleted", { id: "a" });
    expect(answers.value.size).toBe(0);
  });

  test("that is missing says why, unless the session is gone", async () => {
    read.mockRejectedValueOnce(new ApiError(503, "", "The service is busy."));
    await vi.advanceTimersByTimeAsync(SETTLE_MS);
    expect(answers.value.get("a")?.problem).toBe("The service is busy.");
    read.mockRejectedValueOnce(new ApiError(404, "NOT_FOUND", "gone"));
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(answers.value.has("a")).toBe(false);
  });
});
