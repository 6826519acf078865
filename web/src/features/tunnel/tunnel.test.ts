import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { ApiError } from "../../api/errors.ts";
import { countdown, imageOf } from "./state.ts";

const service = new FakeService();
const calls = {
  readStatus: service.on("GET /api/tunnel/status"),
  readQr: service.on("GET /api/tunnel/qr"),
  startTunnel: service.on("POST /api/tunnel/start"),
};

const { dispatchServerEvent: tellServerEvent } = await import("../../api/stream/events.ts");
const state = await import("./state.ts");

const CODE = { svg: "<svg/>", url: "https://t.example/q/abc123", expiresAt: 60_000, authEnabled: true };

beforeEach(() => {
  for (const call of Object.values(calls)) call.mockReset();
  calls.readQr.mockResolvedValue(CODE);
  calls.readStatus.mockResolvedValue({ running: true, url: null, sseClients: 0, authSessions: [] });
  state.code.value = undefined;
  state.trouble.value = "";
});

test.each([
  [60_000, 0, 60, 1],
  [60_000, 30_000, 30, 0.5],
  [60_000, 59_999, 1, 1 / 60_000],
  [60_000, 60_000, 0, 0],
  [60_000, 99_000, 0, 0],
  [999_000, 0, 60, 1],
])("a code until %i seen at %i has %i s", (expiresAt, now, seconds, share) => {
  expect(countdown(expiresAt, now)).toEqual({ seconds, share });
});

test("a picture can stand alone, whether or not it names its language", () => {
  const read = (svg: string) => decodeURIComponent(imageOf(svg).replace("data:image/svg+xml,", ""));
  expect(read('<svg viewBox="0 0 1 1"/>')).toBe(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
  );
  const whole = '<svg viewBox="0 0 1 1" xmlns="http://www.w3.org/2000/svg"/>';
  expect(read(whole)).toBe(whole);
  expect(imageOf("<svg>#</svg>")).not.toContain("#");
});

describe("the code", () => {
  test("is read again with each event that replaces it, while the panel is open", async () => {
    const stop = state.followCode(true);
    for (const [known, name] of ["qrRotated", "qrRegenerated", "qrAuthUsed"].entries()) {
      await vi.waitFor(() => expect(state.code.value).toEqual(CODE));
      expect(calls.readQr).toHaveBeenCalledTimes(known + 1);
      state.code.value = undefined;
      tellServerEvent(`tunnel:${name}`, {});
    }
    await vi.waitFor(() => expect(state.code.value).toEqual(CODE));
    stop();
    tellServerEvent("tunnel:qrRotated", {});
    expect(calls.readQr).toHaveBeenCalledTimes(4);
    expect(state.code.value).toBeUndefined();
  });

  test("is not asked for while no tunnel runs", async () => {
    const stop = state.followCode(false);
    tellServerEvent("tunnel:progress", {});
    tellServerEvent("tunnel:stopped", {});
    expect(calls.readQr).not.toHaveBeenCalled();
    tellServerEvent("tunnel:started", {});
    await vi.waitFor(() => expect(state.code.value).toEqual(CODE));
    stop();
  });

  test("without a tunnel is no trouble; anything else is", async () => {
    calls.readQr.mockRejectedValue(new ApiError(404, "NOT_FOUND", "Tunnel not found"));
    await state.readCode();
    expect(state.trouble.value).toBe("");
    calls.readQr.mockRejectedValue(new ApiError(503, "", "busy"));
    await state.readCode();
    expect(state.trouble.value).toBe("busy");
  });
});

describe("the tunnel", () => {
  test("that starts shows its code", async () => {
    const started = state.start();
    expect(state.working.value).toBe("start");
    await started;
    expect([state.working.value, state.code.value]).toEqual(["", CODE]);
    expect(calls.readStatus).toHaveBeenCalledOnce();
  });

  test.each([
    [422, "tunnel: there is no program cloudflared", "SERVICE_TUNNEL_COMMAND"],
    [422, "tunnel: no address within 30 s", "no address within 30 s"],
    [403, "a tunnel needs a password", "SERVICE_PASSWORD"],
  ])("refused with %i, %s, says %s", async (status, text, words) => {
    calls.startTunnel.mockRejectedValue(new ApiError(status, "", text));
    await state.start();
    expect(state.trouble.value).toContain(words);
    expect(state.working.value).toBe("");
  });

  test("that is lost says why", () => {
    const stop = state.followCode(true);
    tellServerEvent("tunnel:error", { error: "tunnel: it ended" });
    expect(state.trouble.value).toBe("tunnel: it ended");
    stop();
  });
});
