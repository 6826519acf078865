import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { ApiError } from "../../api/errors.ts";

const service = vi.hoisted(() => ({
  signIn: vi.fn(),
  signOut: vi.fn(),
  restartStream: vi.fn(),
  holdStream: vi.fn(),
  stopStream: vi.fn(),
}));
const kept = new Map<string, string>();
vi.stubGlobal("localStorage", {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => kept.set(name, value),
});
const place = { replace: vi.fn(), hash: "", pathname: "/prefix/", search: "?session=a" };
const past = { state: null, replaceState: vi.fn() };
vi.stubGlobal("history", past);
vi.stubGlobal("location", place);
const caches = { delete: vi.fn(async () => true) };
vi.stubGlobal("caches", caches);
vi.stubGlobal("document", { baseURI: "https://h/prefix/?page=settings" });
vi.mock("../../api/calls.ts", () => service);
const fake = new FakeService();
const readMe = fake.on("GET /api/me");
const changePassword = fake.on("PUT /api/me/password");
vi.mock("../../api/stream/connection.ts", () => service);

const {
  checkForKeyRequest: lookForKey,
  reportForbidden,
  reportUnauthorized,
} = await import("../../api/client.ts");
const { dispatchServerEvent: tellServerEvent } = await import("../../api/stream/events.ts");
const { followMe, isAdmin, isMultiUser, me, passwordDue, readPerson } = await import("../../store/me.ts");
const state = await import("./state.ts");
const { problemOf } = await import("./PasswordForm.tsx");
const { signInByLink: arrive } = await import("./state.ts");
const { forgetKey, keepKey, keyProtocols, pageKey } = await import("../../api/key.ts");

state.startAuth();
followMe();

const ANNA = { username: "anna", role: "user", mustChangePassword: false, multiUser: true } as const;
const DUE = { ...ANNA, mustChangePassword: true };
const NOBODY = new ApiError(401, "UNAUTHORIZED", "no");
const settle = () => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  for (const call of [...Object.values(service), readMe, changePassword]) call.mockReset();
  service.signIn.mockRejectedValue(NOBODY);
  forgetKey();
  kept.clear();
  place.hash = "";
  me.value = ANNA;
  state.resetSignIn();
  state.signedOut.value = false;
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
    service.signIn.mockResolvedValue({ ...ANNA, key: "abc" });
    await state.signInWithPassword("anna", "secret123");
    expect(service.signIn).toHaveBeenCalledWith({ username: "anna", password: "secret123" });
    expect(me.value).toEqual(ANNA);
    expect([pageKey(), keyProtocols()]).toEqual(["abc", ["tservice", "key.abc"]]);
    expect(service.restartStream).toHaveBeenCalledOnce();
    expect([state.signedOut.value, state.knowsCurrent.value]).toEqual([false, false]);
  });

  test("with a one-time password opens nothing, and the change needs it no second time", async () => {
    service.signIn.mockResolvedValue(DUE);
    await state.signInWithPassword("anna", "one-time");
    expect([passwordDue.value, state.knowsCurrent.value]).toEqual([true, true]);
    expect(service.restartStream).not.toHaveBeenCalled();
    await state.setPassword("", "my own word");
    const { body } = changePassword.mock.lastCall?.[0] ?? {};
    expect(body).toEqual({ currentPassword: "one-time", newPassword: "my own word" });
    expect([passwordDue.value, state.knowsCurrent.value]).toEqual([false, false]);
    expect(service.restartStream).toHaveBeenCalledOnce();
  });

  test("as somebody else leaves nothing of the last one in the page", async () => {
    me.value = ANNA;
    reportUnauthorized();
    service.signIn.mockResolvedValue({ ...ANNA, username: "bob" });
    await state.signInWithPassword("bob", "secret123");
    expect(place.replace).toHaveBeenCalledOnce();
    expect([me.value, state.signedOut.value]).toEqual([undefined, true]);
    expect(service.restartStream).not.toHaveBeenCalled();
  });

  test("as somebody else in another tab neither", () => {
    me.value = ANNA;
    tellServerEvent("init", { user: ANNA });
    expect(place.replace).not.toHaveBeenCalled();
    tellServerEvent("init", { user: { ...ANNA, username: "bob" } });
    expect(place.replace).toHaveBeenCalledOnce();
  });

  test("refused leaves everything as it is", async () => {
    service.signIn.mockRejectedValue(new ApiError(401, "UNAUTHORIZED", "no"));
    state.signedOut.value = true;
    await expect(state.signInWithPassword("anna", "wrong")).rejects.toThrow("no");
    expect([state.signedOut.value, me.value]).toEqual([true, undefined]);
  });
});

describe("a changed password", () => {
  test("the stream rests meanwhile, and goes on when the change is refused", async () => {
    me.value = ANNA;
    changePassword.mockRejectedValue(new ApiError(403, "FORBIDDEN", "currentPassword: is wrong"));
    await expect(state.setPassword("bad", "my own word")).rejects.toThrow("is wrong");
    expect(service.holdStream).toHaveBeenCalledOnce();
    expect(service.restartStream).toHaveBeenCalledOnce();
  });

  test("refused while it is due leaves the gate closed", async () => {
    me.value = DUE;
    changePassword.mockRejectedValue(new ApiError(403, "FORBIDDEN", "currentPassword: is wrong"));
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
    readMe.mockResolvedValue(DUE);
    reportForbidden();
    await settle();
    expect(passwordDue.value).toBe(true);
    expect(service.stopStream).toHaveBeenCalled();
  });

  test("a refused stream for another reason changes nothing", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    me.value = ANNA;
    readMe.mockRejectedValue(new ApiError(403, "", "Forbidden: host not allowed"));
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
    keepKey("abc");
    expect(state.canSignOut.value).toBe(true);
    await state.signOutHere();
    expect([pageKey(), keyProtocols()]).toEqual(["none", []]);
    expect([me.value, state.signedOut.value, state.wasEnded.value]).toEqual([undefined, true, false]);
    expect(state.canSignOut.value).toBe(false);
    expect(caches.delete).toHaveBeenCalledWith("tservice-shared /prefix/");
    expect(place.replace).toHaveBeenCalledWith("https://h/prefix/");
  });

  test("that fails leaves nobody in doubt", async () => {
    me.value = ANNA;
    service.signOut.mockRejectedValue(new ApiError(503, "", "busy"));
    await state.signOutHere();
    expect([me.value, state.signedOut.value]).toEqual([ANNA, false]);
  });
});

describe("the key", () => {
  test("is that of this base path, and one for all tabs", () => {
    keepKey("abc");
    expect([...kept]).toEqual([["tservice.key /prefix/", "abc"]]);
    kept.set("tservice.key /prefix/", "of another tab");
    expect(pageKey()).toBe("of another tab");
  });

  test("lasts as long as the page where the browser keeps nothing", () => {
    keepKey("abc");
    kept.clear();
    expect(pageKey()).toBe("abc");
  });

  test("of a changed password takes the place of the old one", async () => {
    keepKey("old");
    changePassword.mockResolvedValue({ key: "new" });
    await state.setPassword("present", "my own word");
    expect(pageKey()).toBe("new");
  });

  test("of a scanned code is taken from the address when it opens something", async () => {
    place.hash = "#key=0af";
    readMe.mockResolvedValue(ANNA);
    await arrive();
    expect(readMe.mock.lastCall?.[0].key).toBe("qr-0af");
    expect(pageKey()).toBe("qr-0af");
    expect(past.replaceState).toHaveBeenCalledWith(null, "", "/prefix/?session=a");
  });

  test("of a link that opens nothing takes the place of none", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    keepKey("abc");
    place.hash = "#key=0af";
    readMe.mockRejectedValue(NOBODY);
    await arrive();
    expect(pageKey()).toBe("abc");
    place.hash = "#top";
    await arrive();
    expect(readMe).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
});

describe("a password that the browser itself holds", () => {
  const letIn = () => lookForKey(new Response("", { headers: { "X-Service-Key": "wanted" } }));

  test("gets the page its key, once in a while", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(100_000);
    keepKey("of an ended session");
    service.signIn.mockResolvedValue({ ...ANNA, key: "abc" });
    lookForKey(new Response(""));
    expect(service.signIn).not.toHaveBeenCalled();
    letIn();
    letIn();
    await settle();
    expect(service.signIn).toHaveBeenCalledExactlyOnceWith();
    expect(pageKey()).toBe("abc");
    expect(service.restartStream).toHaveBeenCalledOnce();
    // Nothing came of it: a browser without cookies.
    now.mockReturnValue(159_999);
    letIn();
    expect(service.signIn).toHaveBeenCalledOnce();
    now.mockReturnValue(160_000);
    letIn();
    await settle();
    expect(service.signIn).toHaveBeenCalledTimes(2);
    now.mockRestore();
  });

  test("that is refused leaves everything as it is", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(500_000);
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    letIn();
    await settle();
    expect(warned).toHaveBeenCalledOnce();
    expect([pageKey(), state.signedOut.value]).toEqual(["none", false]);
    warned.mockRestore();
    now.mockRestore();
  });
});

test.each([
  [{ current: "x", wanted: "short", repeated: "short" }, "at least 8"],
  [{ current: "x", wanted: "😀😀😀😀", repeated: "😀😀😀😀" }, "at least 8"],
  [{ current: "x", wanted: "x".repeat(1025), repeated: "" }, "at most"],
  [{ current: "same word", wanted: "same word", repeated: "same word" }, "differs from the current one"],
  [{ current: "x", wanted: "long enough", repeated: "long enouhg" }, "don't match"],
  [{ current: "x", wanted: "long enough", repeated: "long enough" }, undefined],
])("%j: %s", (draft, words) => {
  const found = problemOf(draft);
  if (words === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(words);
});
