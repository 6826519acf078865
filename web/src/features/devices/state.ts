/** What is signed in, and the way to end it. */
import { api } from "../../api/client.ts";
import type { AuthSession } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { resource } from "../../store/resource.ts";
import { afterSignOut } from "../auth/state.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { deviceName, findDeviceOfQrUse, listOtherDevices, type QrUse } from "./texts.ts";

const readStatus = () => api.get("/api/tunnel/status");

const revokeDevice = (sessionId: string) => api.post("/api/auth/revoke", { body: { sessionId } });

/** The tunnel and what is signed in. Devices come and go without an event too. */
export const status = resource(readStatus, ["tunnel:"], { every: 15_000 });

async function end(devices: readonly AuthSession[]): Promise<void> {
  try {
    for (const device of devices) await revokeDevice(device.id);
    showToast("good", `${plural(devices.length, "device")} signed out`);
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
  await status.refresh();
}

export async function revoke(device: AuthSession): Promise<void> {
  const name = device.current ? "this device" : deviceName(device.ua);
  const agreed = await askQuestion({
    title: `Sign out ${name}?`,
    text: device.current
      ? "To sign in again, you need the password or a QR code from another device."
      : "Its page closes at once. Sessions keep running.",
    action: "Sign out",
    danger: true,
  });
  if (agreed === undefined) return;
  if (!device.current) return end([device]);
  try {
    await revokeDevice(device.id);
    afterSignOut();
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
}

export async function revokeOthers(): Promise<void> {
  const list = listOtherDevices(status.data.value?.authSessions ?? []);
  const agreed = await askQuestion({
    title: "Sign out all other devices?",
    text: `${plural(list.length, "device")} must sign in again. Tokens keep working.`,
    action: "Sign out",
    danger: true,
  });
  if (agreed !== undefined) await end(list);
}

/** Sign out whoever came in with a code. */
export async function endUse(use: QrUse): Promise<void> {
  try {
    const found = findDeviceOfQrUse(use, (await readStatus()).authSessions);
    for (const device of found) await revokeDevice(device.id);
    if (found.length > 0) showToast("good", "Signed out", "The device that used the code is signed out.");
    else showToast("info", "Already signed out");
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
  if (status.data.peek()) await status.refresh();
}
