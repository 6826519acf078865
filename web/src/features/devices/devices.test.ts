import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { ApiError } from "../../api/errors.ts";
import { openQuestion } from "../../ui/ask.ts";
import { toasts } from "../../store/toasts.ts";
import type { AuthSession } from "../../api/types.ts";
import { deviceName, shapeOf, sortDevices, describeMethod, readQrUse } from "./texts.ts";

const service = new FakeService();
const calls = {
  readStatus: service.on("GET /api/tunnel/status"),
  revokeDevice: service.on("POST /api/auth/revoke"),
};
const revoked = () => calls.revokeDevice.mock.calls.map(([{ body }]) => body.sessionId);
const auth = vi.hoisted(() => ({ afterSignOut: vi.fn() }));
vi.mock("../auth/state.ts", () => auth);

const { dispatchServerEvent: tellServerEvent } = await import("../../api/stream/events.ts");
const state = await import("./state.ts");
const { watchDevices } = await import("./watch.ts");
watchDevices();

const PHONE =
  "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36";
const device = (id: string, createdAt: number, current = false): AuthSession => ({
  id,
  username: "ann",
  ip: "192.0.2.7",
  ua: PHONE,
  createdAt,
  method: "login",
  current,
});
const LIST = [device("old", 1), device("mine", 2, true), device("new", 3)];

beforeEach(() => {
  for (const call of [...Object.values(calls), auth.afterSignOut]) call.mockReset();
  calls.readStatus.mockResolvedValue({ running: false, url: null, sseClients: 1, authSessions: LIST });
  toasts.value = [];
});

describe("names of devices", () => {
  const safari = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0";
  test.each([
    [PHONE, "Chrome on Android", "phone"],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${safari} Mobile/15E Safari/604.1`,
      "Safari on iPhone",
      "phone",
    ],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${safari} Safari/605.1.15`, "Safari on Mac", "desk"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0 Safari/537.36 Edg/140.0",
      "Edge on Windows",
      "desk",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0", "Firefox on Linux", "desk"],
    ["Mozilla/5.0 (X11; Linux x86_64)", "Browser on Linux", "desk"],
    ["curl/8.5.0", "curl", "program"],
    ["python-requests/2.32 (Linux)", "python-requests", "program"],
    ["", "Unknown device", "program"],
    ["x".repeat(300), "x".repeat(40), "program"],
  ])("%s", (ua, name, shape) => {
    expect([deviceName(ua), shapeOf(ua)]).toEqual([name, shape]);
  });
});

test("this device comes first, then the newest", () => {
  expect(sortDevices(LIST).map((each) => each.id)).toEqual(["mine", "new", "old"]);
  expect([describeMethod("qr"), describeMethod("magic")]).toEqual(["with a QR code", "with magic"]);
});

describe("signing out", () => {
  test("another device", async () => {
    const done = state.revoke(device("old", 1));
    openQuestion.value?.answer("yes");
    await done;
    expect(revoked()).toEqual(["old"]);
    expect(auth.afterSignOut).not.toHaveBeenCalled();
    expect(calls.readStatus).toHaveBeenCalledOnce();
  });

  test("this one leads to the sign-in page", async () => {
    const done = state.revoke(device("mine", 2, true));
    openQuestion.value?.answer("yes");
    await done;
    expect(auth.afterSignOut).toHaveBeenCalledOnce();
    expect(calls.readStatus).not.toHaveBeenCalled();
  });

  test("all others leaves this one in", async () => {
    const stop = state.status.follow();
    await vi.waitFor(() => expect(state.status.data.value).toBeDefined());
    const done = state.revokeOthers();
    openQuestion.value?.answer("yes");
    await done;
    expect(revoked()).toEqual(["old", "new"]);
    expect(toasts.value[0]?.title).toBe("2 devices signed out");
    stop();
  });

  test("nothing without a yes; a failure is told", async () => {
    const first = state.revoke(device("old", 1));
    openQuestion.value?.answer(undefined);
    await first;
    expect(calls.revokeDevice).not.toHaveBeenCalled();
    calls.revokeDevice.mockRejectedValue(new ApiError(503, "", "busy"));
    const second = state.revoke(device("old", 1));
    openQuestion.value?.answer("yes");
    await second;
    expect(toasts.value[0]).toMatchObject({ tone: "bad", text: "busy" });
  });
});

describe("a QR code that was used", () => {
  const used = { ip: "198.51.100.9", ua: `${PHONE} and more`, timestamp: 100_000 };
  const guest = (id: string, part: Partial<AuthSession> = {}): AuthSession => ({
    ...device(id, 100_002),
    ip: used.ip,
    method: "qr",
    ...part,
  });

  test("is told with a way to end what it opened, and nothing else", async () => {
    const others = [
      guest("password", { method: "login" }),
      guest("elsewhere", { ip: "198.51.100.8" }),
      guest("earlier", { createdAt: 90_000 }),
      guest("other", { ua: "curl/8" }),
    ];
    calls.readStatus.mockResolvedValue({ authSessions: [...others, guest("guest")] });
    tellServerEvent("tunnel:qrAuthUsed", used);
    await vi.waitFor(() =>
      expect(toasts.value[0]?.text).toBe("Chrome on Android, 198.51.100.9. Was that you?"),
    );
    toasts.value[0]?.action?.act();
    await vi.waitFor(() => expect(toasts.value[1]?.title).toBe("Signed out"));
    expect(revoked()).toEqual(["guest"]);
  });

  test("may be over already", async () => {
    tellServerEvent("tunnel:qrAuthUsed", used);
    await vi.waitFor(() => expect(toasts.value).toHaveLength(1));
    toasts.value[0]?.action?.act();
    await vi.waitFor(() => expect(toasts.value[1]?.title).toBe("Already signed out"));
    expect(calls.revokeDevice).not.toHaveBeenCalled();
  });

  test("whose end fails is told", async () => {
    calls.readStatus.mockRejectedValue(new ApiError(503, "", "busy"));
    tellServerEvent("tunnel:qrAuthUsed", used);
    await vi.waitFor(() => expect(toasts.value).toHaveLength(1));
    toasts.value[0]?.action?.act();
    await vi.waitFor(() => expect(toasts.value[1]?.text).toBe("busy"));
  });

  test.each([null, 7, {}, { ip: "198.51.100.9" }])("%j tells of nobody", (data) => {
    expect(readQrUse(data)).toBeUndefined();
  });
});
