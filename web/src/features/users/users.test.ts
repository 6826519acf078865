import { beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../api/errors.ts";
import { openQuestion } from "../../ui/ask.ts";
import { toasts } from "../../store/toasts.ts";
import { type Asked, FakeService } from "../../api/fakeservice.ts";
import type { UserResponse } from "../../api/types.ts";

const service = new FakeService();
const ONE = "/api/admin/users/{name}";
const calls = {
  listUsers: service.on("GET /api/admin/users"),
  createUser: service.on("POST /api/admin/users"),
  changeUser: service.on(`PATCH ${ONE}`),
  removeUser: service.on(`DELETE ${ONE}`),
  resetPassword: service.on(`POST ${ONE}/reset-password`),
  logOutUser: service.on(`POST ${ONE}/logout`),
};

const { me } = await import("../../store/me.ts");
const { dispatchServerEvent: tellServerEvent } = await import("../../api/stream/events.ts");
const { userItems } = await import("./state.ts");
const state = await import("./state.ts");
const {
  knowsOsUsers,
  listMarks: marksOf,
  validateUserName: nameProblem,
  buildQuestion: questionFor,
  sharedText,
} = await import("./texts.ts");

/** A part of what a request brought. */
const asked = (part: Partial<Asked>): unknown => expect.objectContaining(part);

const ANNA: UserResponse = {
  username: "anna",
  role: "user",
  enabled: true,
  canBypassPermissions: false,
  mustChangePassword: false,
  createdAt: 1,
};
const ROOT: UserResponse = { ...ANNA, username: "root", role: "admin", canBypassPermissions: true };

beforeEach(() => {
  for (const call of Object.values(calls)) call.mockReset();
  calls.listUsers.mockResolvedValue({ users: [ROOT, ANNA] });
  state.trouble.value = undefined;
  state.shownOnce.value = undefined;
  toasts.value = [];
  me.value = { username: "root", role: "admin", mustChangePassword: false, multiUser: true };
});

const labels = (user: UserResponse, osUsers = false) => userItems(user, osUsers).map((item) => item.label);

describe("what accounts without an OS user are", () => {
  const plain = { username: "ann", role: "user", enabled: true } as UserResponse;
  test("is said where there are two, or one more is made", () => {
    expect(sharedText([plain], false)).toBeUndefined();
    expect(sharedText([plain], true)).toContain("one user with several passwords");
    expect(sharedText([plain, plain], false)).toContain("run the service as root");
  });
  test("is not said of accounts that have one", () => {
    const apart = { ...plain, osUser: "ann" } as UserResponse;
    expect(sharedText([apart, apart, plain], false)).toBeUndefined();
    expect(sharedText([apart, plain, { ...plain, osUser: "" } as UserResponse], false)).toContain(
      "Give each an OS user",
    );
  });
});

describe("the menu", () => {
  test("offers what is not so yet", () => {
    expect(labels(ANNA)).toEqual([
      "Make admin",
      "Allow running anything",
      "Reset password",
      "Sign out everywhere",
      "Revoke all tokens",
      "Disable",
      "Delete",
    ]);
    const other = { ...ANNA, enabled: false, canBypassPermissions: true };
    expect(labels(other)).toContain("Enable");
    expect(labels(other)).toContain("Revoke “can run anything”");
  });

  test("admins need no grant; OS users only where panes can be theirs", () => {
    expect(labels(ROOT)).not.toContain("Allow running anything");
    expect(labels(ANNA, true)).toContain("OS user…");
    expect([knowsOsUsers([ANNA]), knowsOsUsers([ANNA, { ...ROOT, osUser: null }])]).toEqual([false, true]);
  });
});

describe("a deed", () => {
  const agree = () => openQuestion.value?.answer("yes");

  test.each([
    ["promote", { role: "admin" }],
    ["demote", { role: "user" }],
    ["grant", { canBypassPermissions: true }],
    ["withdraw", { canBypassPermissions: false }],
    ["enable", { enabled: true }],
    ["disable", { enabled: false }],
  ] as const)("%s", async (deed, change) => {
    const stop = state.followUsers();
    const done = state.perform(deed, ANNA);
    agree();
    await done;
    expect(calls.changeUser).toHaveBeenCalledWith(asked({ path: { name: "anna" }, body: change }));
    expect(state.users.data.value).toEqual([ROOT, ANNA]);
    expect([state.busy.value, state.trouble.value]).toEqual([undefined, undefined]);
    stop();
  });

  test("is done only when agreed to", async () => {
    const done = state.perform("delete", ANNA);
    openQuestion.value?.answer(undefined);
    await done;
    expect(calls.removeUser).not.toHaveBeenCalled();
  });

  test("a new one-time password is shown until it is kept", async () => {
    calls.resetPassword.mockResolvedValue({ oneTimePassword: "abc" });
    const done = state.perform("reset", ANNA);
    agree();
    await done;
    expect(state.shownOnce.value).toEqual({ name: "anna", password: "abc" });
  });

  test("signing out says how many it were", async () => {
    calls.logOutUser.mockResolvedValue({ revoked: 2, tokens: 1 });
    const done = state.perform("logout", ANNA);
    agree();
    await done;
    expect(toasts.value[0]?.text).toBe("2 devices signed out; 1 token stays valid");
  });

  test("tokens end when that is asked for", async () => {
    calls.logOutUser.mockResolvedValue({ revoked: 0, tokens: 0 });
    const done = state.perform("tokens", ANNA);
    agree();
    await done;
    expect(calls.logOutUser).toHaveBeenCalledWith(asked({ path: { name: "anna" }, body: { tokens: true } }));
  });

  test("the last admin is named beside the account", async () => {
    calls.changeUser.mockRejectedValue(
      new ApiError(409, "LAST_ADMIN", "User root is the last enabled admin"),
    );
    const done = state.perform("demote", ROOT);
    agree();
    await done;
    expect(state.trouble.value).toEqual({
      name: "root",
      text: "root is the last enabled admin. Make another user an admin first.",
    });
    expect(state.busy.value).toBeUndefined();
  });
});

describe("the list", () => {
  test("follows the service while it is open", async () => {
    calls.listUsers.mockResolvedValueOnce({ users: [ROOT] });
    const stop = state.followUsers();
    tellServerEvent("admin:usersChanged", {});
    await vi.waitFor(() => expect(calls.listUsers).toHaveBeenCalledTimes(2));
    await vi.waitFor(() => expect(state.users.data.value).toHaveLength(2));
    state.shownOnce.value = { name: "anna", password: "abc" };
    stop();
    tellServerEvent("admin:usersChanged", {});
    expect(calls.listUsers).toHaveBeenCalledTimes(2);
    expect([state.users.data.value, state.shownOnce.value]).toEqual([undefined, undefined]);
  });

  test("that cannot be read says so", async () => {
    calls.listUsers.mockRejectedValue(new ApiError(503, "", "busy"));
    const stop = state.followUsers();
    await vi.waitFor(() => expect(state.users.trouble.value).toBe("busy"));
    calls.listUsers.mockResolvedValue({ users: [ROOT] });
    await state.users.refresh();
    expect(state.users.trouble.value).toBe("");
    stop();
  });

  test("a new account's password is shown once", async () => {
    calls.createUser.mockResolvedValue({ user: ANNA, oneTimePassword: "abc" });
    await state.create({ username: "anna", role: "user", canBypassPermissions: false });
    expect(state.shownOnce.value).toEqual({ name: "anna", password: "abc" });
  });
});

test("marks tell what is unusual", () => {
  expect(marksOf(ROOT)).toEqual([]);
  const odd = {
    ...ANNA,
    enabled: false,
    mustChangePassword: true,
    canBypassPermissions: true,
    osUser: "web",
  };
  expect(marksOf(odd)).toEqual(["disabled", "one-time password", "can run anything", "runs as web"]);
});

test("one's own account is named as such", () => {
  expect(questionFor("disable", ANNA, true).text).toContain("your own account");
  expect(questionFor("disable", ANNA, false).text).not.toContain("your own account");
});

test.each([
  ["anna", true],
  ["a1_-", true],
  ["a", false],
  ["Anna", false],
  ["-anna", false],
  ["a".repeat(33), false],
])("%s as a name: %s", (name, good) => {
  expect(nameProblem(name) === undefined).toBe(good);
});
