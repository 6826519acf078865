/** What is signed in, and the way to end it. */
import { signal } from "@preact/signals";
import { getErrorText } from "../../api/errors.ts";
import { afterSignOut } from "../auth/state.ts";
import { plural } from "../../lib/format.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { type Device, readStatus, revokeDevice, type TunnelStatus } from "../tunnel/calls.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { deviceName } from "./useragent.ts";
import { findDeviceOfQrUse, listOtherDevices, type QrUse, readQrUse } from "./texts.ts";

export const status = signal<TunnelStatus | undefined>(undefined);
export const trouble = signal("");

/** How often the open page asks for devices that came or went without an event. */
const LOOK_MS = 15_000;

const reads = new CoalescedRead(async () => {
  try {
    status.value = await readStatus();
    trouble.value = "";
  } catch (error) {
    trouble.value = getErrorText(error);
  }
});

export const refresh = (): Promise<void> => reads.now();

/** @returns a function that ends the following. */
export function followDevices(): () => void {
  void refresh();
  const timer = setInterval(() => void refresh(), LOOK_MS);
  const stop = onServerEvent("tunnel:", () => void refresh());
  return () => {
    clearInterval(timer);
    stop();
    status.value = undefined;
  };
}

async function end(devices: readonly Device[]): Promise<void> {
  try {
    for (const device of devices) await revokeDevice(device.id);
    showToast("good", `${plural(devices.length, "device")} signed out`);
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
  await refresh();
}

export async function revoke(device: Device): Promise<void> {
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
  const list = listOtherDevices(status.value?.authSessions ?? []);
  const agreed = await askQuestion({
    title: "Sign out all other devices?",
    text: `${plural(list.length, "device")} must sign in again. Tokens keep working.`,
    action: "Sign out",
    danger: true,
  });
  if (agreed !== undefined) await end(list);
}

async function endUse(use: QrUse): Promise<void> {
  try {
    const found = findDeviceOfQrUse(use, (await readStatus()).authSessions);
    for (const device of found) await revokeDevice(device.id);
    if (found.length > 0) showToast("good", "Signed out", "The device that used the code is signed out.");
    else showToast("info", "Already signed out");
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
  if (status.peek()) await refresh();
}

function qrUsed(data: unknown): void {
  const use = readQrUse(data);
  if (!use) return;
  showToast("bad", "Someone signed in with a QR code", `${deviceName(use.ua)}, ${use.ip}. Was that you?`, {
    label: "No, sign it out",
    act: () => void endUse(use),
  });
}

/** For as long as the page lives: whoever photographs a code from a screen is seen. */
export function watchDevices(): void {
  onServerEvent("tunnel:qrAuthUsed", qrUsed);
}
