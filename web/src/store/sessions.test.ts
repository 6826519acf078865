import { describe, expect, test } from "vitest";
import { SESSION } from "../api/sample.ts";
import type { Session } from "../api/types.ts";
import {
  applySessionEvent,
  setAttention,
  listInDisplayOrder,
  EMPTY,
  patchSession,
  removeSession,
  reorder,
  createSessionList,
  type SessionList,
  upsertSession,
} from "./sessions.ts";

function session(id: string, part: Partial<Session> = {}): Session {
  return {
    ...SESSION,
    id,
    name: id,
    workingDir: "/",
    ...part,
  };
}

const three = () => createSessionList([session("a"), session("b"), session("c")]);
const ids = (list: SessionList) => listInDisplayOrder(list).map((each) => each.id);

describe("the list", () => {
  test("seeding replaces everything and keeps attention of what is left", () => {
    const list = createSessionList(
      [session("b"), session("d")],
      setAttention(setAttention(three(), "a", true), "b", true),
    );
    expect(ids(list)).toEqual(["b", "d"]);
    expect([...list.attention]).toEqual(["b"]);
  });

  test("pinned first, each group in its order", () => {
    expect(ids(upsertSession(three(), session("c", { pinned: true })))).toEqual(["c", "a", "b"]);
  });

  test("an order keeps what it leaves out and drops what is unknown", () => {
    expect(ids(reorder(three(), ["c", "x", "a", "c"]))).toEqual(["c", "a", "b"]);
  });

  test("changes of unknown sessions change nothing", () => {
    const list = three();
    expect(removeSession(list, "x")).toBe(list);
    expect(patchSession(list, "x", { name: "y" })).toBe(list);
    expect(setAttention(list, "x", true)).toBe(list);
  });

  test("values are never changed in place", () => {
    const list = three();
    upsertSession(list, session("d"));
    patchSession(list, "a", { name: "z" });
    removeSession(list, "a");
    setAttention(list, "a", true);
    expect(ids(list)).toEqual(["a", "b", "c"]);
    expect(list.byId.get("a")?.name).toBe("a");
    expect(list.attention.size).toBe(0);
  });
});

describe("events", () => {
  const after = (name: string, data: unknown, list = three()) => applySessionEvent(list, name, data);

  test("created and updated carry the whole record", () => {
    expect(ids(after("session:created", session("d")).list)).toEqual(["a", "b", "c", "d"]);
    expect(after("session:updated", session("a", { name: "new" })).list.byId.get("a")?.name).toBe("new");
  });

  test("deleted", () => {
    expect(ids(after("session:deleted", { id: "b", at: 1 }).list)).toEqual(["a", "c"]);
  });

  test.each([
    ["session:working", "busy"],
    ["session:idle", "idle"],
    ["session:stop", "idle"],
  ])("%s makes it %s", (name, status) => {
    const list = patchSession(three(), "a", { status: status === "busy" ? "idle" : "busy" });
    expect(after(name, { id: "a", at: 1 }, list).list.byId.get("a")?.status).toBe(status);
  });

  test("blocked asks for attention, working takes it back", () => {
    const blocked = after("session:blocked", { id: "a", at: 1 }).list;
    expect(blocked.attention.has("a")).toBe(true);
    expect(after("session:working", { id: "a", at: 2 }, blocked).list.attention.has("a")).toBe(false);
  });

  test("exit ends the process, and its status is not taken for the session's", () => {
    const busy = patchSession(three(), "a", { status: "busy" });
    const { list, refetch } = after("session:exit", { id: "a", status: 3 }, busy);
    expect(list.byId.get("a")).toMatchObject({ pid: null, status: "idle", paneExit: { status: 3 } });
    expect(refetch).toBe("a");
  });

  test("an exit without a status is not reported as 0", () => {
    const exit = after("session:exit", { id: "a" }).list.byId.get("a")?.paneExit;
    expect(exit).toBeDefined();
    expect(exit).not.toHaveProperty("status");
  });

  test("renamed and pinned change their fields", () => {
    expect(after("session:renamed", { id: "a", name: "n" }).list.byId.get("a")?.name).toBe("n");
    expect(ids(after("session:pinned", { id: "c", pinned: true }).list)).toEqual(["c", "a", "b"]);
  });

  test("order", () => {
    expect(ids(after("session:orderChanged", { order: ["b", "a", "c"] }).list)).toEqual(["b", "a", "c"]);
  });

  test("what says too little is read again", () => {
    expect(after("session:needsRefresh", { id: "a" }).refetch).toBe("a");
    expect(after("session:needsRefresh", { id: "x" }).refetch).toBeUndefined();
  });

  test.each([undefined, null, "text", 7, {}, { id: 5 }])("%o as data changes nothing", (data) => {
    expect(ids(after("session:idle", data).list)).toEqual(["a", "b", "c"]);
  });

  test("the high-volume stream asks for nothing", () => {
    expect(after("session:terminal", { id: "a", offset: 1, data: "x" }).refetch).toBeUndefined();
  });

  test("an empty list stays empty", () => {
    expect(applySessionEvent(EMPTY, "session:exit", { id: "a" })).toEqual({ list: EMPTY });
  });
});
