import { beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../api/errors.ts";

const service = vi.hoisted(() => ({
  signIn: vi.fn(),
  signOut: vi.fn(),
  readMe: vi.fn(),
  changePassword: vi.fn(),
  restartStream: vi.fn(),
  holdStream: vi.fn(),
  stopStream: vi.fn(),
}));
vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {} });
const place = { replace: vi.fn() };
vi.stubGlobal("location", place);
vi.stubGlobal("document", { baseURI: "https://h/prefix/?page=settings" });
vi.mock("../api/calls.ts", () => service);
vi.mock("./calls.ts", () => service);
vi.mock("../stream/connection.ts", () => service);

const { reportForbidden, reportUnauthorized } = await import("../api/client.ts");
const { tellServerEvent } = await import("../stream/events.ts");
const { followMe, isAdmin, isMultiUser, me, passwordDue, readPerson } = await import("./me.ts");
const state = await import("./state.ts");
const { problemOf } = await import("./password.ts");

state.startAuth();
followMe();

const ANNA = { username: "anna", role: "user", mustChangePassword: false, multiUser: true } as const;
const DUE = { ...ANNA, mustChangePassword: true };
const settle = () => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  for (const call of Object.values(service)) call.mockReset();
  me.value = ANNA;
  state.forgetPerson();
  state.signedOut.value = false;
  state.holdsCookie.value = false;
  vi.clearAllMocks();
});

describe("the person", () => {
  test.each([
    [{ username: "a", role: "admin" }, "admin"],
    [{ username: "a", role: "root" }, "user"],
    [{ role: "admin" }, undefined],
    [null, undefined],
  ])("%j", (value, role) => {
    expect(readPerson(value)?.role).toBe(role);
  });

  test("comes with the stream", () => {
    tellServerEvent("init", { user: { username: "root", role: "admin", multiUser: true } });
    expect([isAdmin.value, isMultiUser.value, passwordDue.value]).toEqual([true, true, false]);
    tellServerEvent("init", {});
    expect(isAdmin.value).toBe(false);
  });
});

describe("signing in", () => {
  test("opens the stream", async () => {
    service.signIn.mockResolvedValue(ANNA);
    await state.enter("anna", "secret123");
    expect(me.value).toEqual(ANNA);
    expect(service.restartStream).toHaveBeenCalledOnce();
    expect([state.signedOut.value, state.knowsCurrent.value]).toEqual([false, false]);
  });

  test("with a one-time password opens nothing, and the change needs it no second time", async () => {
    service.signIn.mockResolvedValue(DUE);
    await state.enter("anna", "one-time");
    expect([passwordDue.value, state.knowsCurrent.value]).toEqual([true, true]);
    expect(service.restartStream).not.toHaveBeenCalled();
    await state.setPassword("", "my own word");
    expect(service.changePassword).toHaveBeenCalledWith("one-time", "my own word");
    expect([passwordDue.value, state.knowsCurrent.value]).toEqual([false, false]);
    expect(service.restartStream).toHaveBeenCalledOnce();
  });

  test("as somebody else leaves nothing of the last one in the page", async () => {
    me.value = ANNA;
    reportUnauthorized();
    service.signIn.mockResolvedValue({ ...ANNA, username: "bob" });
    await state.enter("bob", "secret123");
    expect(place.replace).toHaveBeenCalledOnce();
    expect([me.value, state.signedOut.value]).toEqual([undefined, true]);
    expect(service.restartStream).not.toHaveBeenCalled();
  });

  test("refused leaves everything as it is", async () => {
    service.signIn.mockRejectedValue(new ApiError(401, "UNAUTHORIZED", "no"));
    state.signedOut.value = true;
    await expect(state.enter("anna", "wrong")).rejects.toThrow("no");
    expect([state.signedOut.value, me.value]).toEqual([true, undefined]);
  });
});

describe("a changed password", () => {
  test("the stream rests meanwhile, and goes on when the change is refused", async () => {
    me.value = ANNA;
    service.changePassword.mockRejectedValue(new ApiError(403, "FORBIDDEN", "currentPassword: is wrong"));
    await expect(state.setPassword("bad", "my own word")).rejects.toThrow("is wrong");
    expect(service.holdStream).toHaveBeenCalledOnce();
    expect(service.restartStream).toHaveBeenCalledOnce();
  });

  test("refused while it is due leaves the gate closed", async () => {
    me.value = DUE;
    service.changePassword.mockRejectedValue(new ApiError(403, "FORBIDDEN", "currentPassword: is wrong"));
    await expect(state.setPassword("bad", "my own word")).rejects.toThrow();
    expect(service.restartStream).not.toHaveBeenCalled();
    expect(passwordDue.value).toBe(true);
  });
});

describe("what the service ends", () => {
  test("is told to who was in, and to nobody else", () => {
    reportUnauthorized();
    expect([state.signedOut.value, state.wasEnded.value]).toEqual([true, false]);
    state.signedOut.value = false;
    me.value = ANNA;
    reportUnauthorized();
    reportUnauthorized();
    expect([state.signedOut.value, state.wasEnded.value, me.value]).toEqual([true, true, undefined]);
  });

  test("a refused stream may mean that a password is due", async () => {
    service.readMe.mockResolvedValue(DUE);
    reportForbidden();
    await settle();
    expect(passwordDue.value).toBe(true);
    expect(service.stopStream).toHaveBeenCalled();
  });

  test("a refused stream for another reason changes nothing", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    me.value = ANNA;
    service.readMe.mockRejectedValue(new ApiError(403, "", "Forbidden: host not allowed"));
    reportForbidden();
    await settle();
    expect(me.value).toEqual(ANNA);
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
});

describe("leaving", () => {
  test("begins anew, behind whatever prefix", async () => {
    me.value = ANNA;
    expect(state.canSignOut.value).toBe(true);
    await state.leave();
    expect([me.value, state.signedOut.value, state.wasEnded.value]).toEqual([undefined, true, false]);
    expect(state.canSignOut.value).toBe(false);
    expect(place.replace).toHaveBeenCalledWith("https://h/prefix/");
  });

  test("that fails leaves nobody in doubt", async () => {
    me.value = ANNA;
    service.signOut.mockRejectedValue(new ApiError(503, "", "busy"));
    await state.leave();
    expect([me.value, state.signedOut.value]).toEqual([ANNA, false]);
  });
});

test.each([
  [{ current: "x", wanted: "short", repeated: "short" }, "at least 8"],
  [{ current: "x", wanted: "😀😀😀😀", repeated: "😀😀😀😀" }, "at least 8"],
  [{ current: "x", wanted: "x".repeat(1025), repeated: "" }, "at most"],
  [{ current: "same word", wanted: "same word", repeated: "same word" }, "the old one"],
  [{ current: "x", wanted: "long enough", repeated: "long enouhg" }, "differ"],
  [{ current: "x", wanted: "long enough", repeated: "long enough" }, undefined],
])("%j: %s", (draft, words) => {
  const found = problemOf(draft);
  if (words === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(words);
});
