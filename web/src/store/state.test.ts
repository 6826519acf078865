import { beforeEach, expect, test, vi } from "vitest";
import type { Session } from "../api/types.ts";
import { dispatchServerEvent } from "../api/stream/events.ts";
import { EMPTY } from "./sessions.ts";

const calls = vi.hoisted(() => ({ listClis: vi.fn(), readSession: vi.fn(), readSettings: vi.fn() }));
vi.mock("../api/calls.ts", () => calls);

const { describeUpdate, followService, putSession: keep, sessionList } = await import("./state.ts");

const SESSION = { id: "a", mode: "shell", name: "first", pid: 1, status: "busy" } as Session;

followService();

beforeEach(() => {
  for (const call of Object.values(calls)) call.mockReset();
  sessionList.value = EMPTY;
  keep(SESSION);
});

/** A session that ended, whose record is asked for; what gives the answer. */
function asked(): (session: Session) => void {
  let arrive = (_: Session) => {};
  calls.readSession.mockReturnValueOnce(new Promise<Session>((done) => (arrive = done)));
  dispatchServerEvent("session:exit", { id: "a", status: 0, at: 5 });
  return arrive;
}

const settled = () => new Promise((done) => setTimeout(done));

test("a session that is deleted while it is read stays away", async () => {
  const arrive = asked();
  calls.readSession.mockRejectedValue(new Error("not asked for again"));
  dispatchServerEvent("session:deleted", { id: "a" });
  const seen: number[] = [];
  const stop = sessionList.subscribe((list) => void seen.push(list.byId.size));
  arrive(SESSION);
  await settled();
  stop();
  expect(seen).toEqual([0]);
});

test("what an event told while it is read is not undone by the answer", async () => {
  const arrive = asked();
  const renamed = { ...SESSION, name: "second", pid: null };
  calls.readSession.mockResolvedValueOnce(renamed);
  dispatchServerEvent("session:updated", renamed);
  arrive({ ...SESSION, pid: null });
  await vi.waitFor(() => expect(calls.readSession).toHaveBeenCalledTimes(2));
  await settled();
  expect(sessionList.value.byId.get("a")?.name).toBe("second");
});

test("another end while it is read is read, too", async () => {
  const arrive = asked();
  calls.readSession.mockResolvedValueOnce({ ...SESSION, pid: null, paneExit: { status: 3, at: 9 } });
  dispatchServerEvent("session:exit", { id: "a", status: 3, at: 9 });
  arrive({ ...SESSION, pid: null, paneExit: { status: 0, at: 5 } });
  await vi.waitFor(() => expect(sessionList.value.byId.get("a")?.paneExit?.status).toBe(3));
  await vi.waitFor(() => expect(calls.readSession).toHaveBeenCalledTimes(2));
});

test.each([
  ["1.2.0", null, "1.2.0", ""],
  ["1.3.0", null, "1.2.0", "This page is older than the server. Reload it."],
  ["1.2.0", "1.3.0", "1.2.0", "1.3.0 is installed. Restart the server."],
])("a server %s with %s installed says to the page of %s: %s", (version, installedVersion, page, words) => {
  expect(describeUpdate({ version, installedVersion }, page)).toBe(words);
});
