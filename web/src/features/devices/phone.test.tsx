// @vitest-environment happy-dom
/** What a phone needs, step by step. */
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { ApiError } from "../../api/errors.ts";
import type { TunnelStatusAnswer } from "../../api/types.ts";
import { me } from "../../store/me.ts";
import { listViolations, show } from "../../ui/rendered.ts";
import { signedOut } from "../auth/state.ts";
import { judgeSteps } from "./phone.ts";
import { PhoneSteps } from "./PhoneSteps.tsx";

const OFF: TunnelStatusAnswer = { running: false, url: null, sseClients: 1, authSessions: [] };
const ANN = { username: "ann", role: "admin", mustChangePassword: false, multiUser: false } as const;

test.each([
  [false, null, null, "missing later later"],
  [true, null, null, "done missing later"],
  [true, null, "http://192.0.2.7:8770/", "done done missing"],
  [true, null, "https://box.ts.net/", "done done done"],
  [true, "https://t.example", null, "done done done"],
  [false, null, "http://192.0.2.7/", "missing done missing"],
])("with a password %s, a tunnel %s and an address %s: %s", (signedIn, tunnel, own, states) => {
  const { password, address, https } = judgeSteps(signedIn, tunnel, own);
  expect([password, address, https].join(" ")).toBe(states);
});

describe("the steps", () => {
  let service: FakeService;
  const open = (signedIn: boolean, canSetPassword: boolean, url: string | null = null) => {
    service.on("GET /api/me").mockReturnValue({ ...ANN, signedIn, canSetPassword });
    const svg = url === null ? null : "<svg/>";
    service.on("GET /api/tunnel/phone").mockReturnValue({ url, svg, programs: [] });
    show(<PhoneSteps tunnel={OFF} />);
  };
  const type = (name: string, text: string) => {
    const field = document.querySelector(`[name=${name}]`) as HTMLInputElement;
    field.value = text;
  };

  beforeEach(() => {
    localStorage.clear();
    me.value = ANN;
    signedOut.value = false;
    service = new FakeService();
  });

  test("set a password in place, which signs this page in", async () => {
    const set = service.on("POST /api/auth/password");
    set.mockReturnValue({ ...ANN, signedIn: true, canSetPassword: false, key: "k" });
    open(false, true);
    await screen.findByTestId("password-form");
    expect(await listViolations(document.body)).toEqual([]);
    type("new", "battery staple");
    type("repeated", "battery staple");
    service.on("GET /api/me").mockReturnValue({ ...ANN, signedIn: true, canSetPassword: false });
    fireEvent.click(screen.getByTestId("password-submit"));
    await waitFor(() => expect(screen.getByTestId("phone-password").dataset["done"]).toBe("true"));
    expect(set.mock.calls[0]?.[0].body).toEqual({ password: "battery staple" });
    expect(signedOut.value).toBe(false);
    expect(screen.getByTestId("phone-serve").textContent).toContain("tailscale serve --bg");
  });

  test("say why the password was refused", async () => {
    service.on("POST /api/auth/password").mockRejectedValue(new ApiError(409, "CONFLICT", "sign in"));
    open(false, true);
    await screen.findByTestId("password-form");
    type("new", "battery staple");
    type("repeated", "battery staple");
    fireEvent.click(screen.getByTestId("password-submit"));
    expect((await screen.findByTestId("password-problem")).textContent).toContain("sign in");
  });

  test("say where a password can be set, if not here", async () => {
    open(false, false);
    expect((await screen.findByTestId("phone-password")).textContent).toContain("SERVICE_PASSWORD");
    expect(screen.queryByTestId("password-form")).toBeNull();
  });

  test("show the code of an address that a phone can reach", async () => {
    open(true, false, "https://box.ts.net/");
    expect(await screen.findByTestId("phone-qr")).toBeTruthy();
    expect(screen.getByTestId("phone-home-screen").textContent).toContain("notifications");
    expect(await listViolations(document.body)).toEqual([]);
  });
});
