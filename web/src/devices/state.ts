/** What is signed in, and the way to end it. */
import { signal } from "@preact/signals";
import { textOf } from "../api/errors.ts";
import { afterSignOut } from "../auth/state.ts";
import { plural } from "../lib/format.ts";
import { Reread } from "../lib/reread.ts";
import { onServerEvent } from "../stream/events.ts";
import { type Device, readStatus, revokeDevice, type TunnelStatus } from "../tunnel/calls.ts";
import { ask } from "../ui/ask.ts";
import { failed, say } from "../ui/toasts.ts";
import { deviceName } from "./useragent.ts";
import { openedBy, others, type QrUse, readQrUse } from "./words.ts";

export const status = signal<TunnelStatus | undefined>(undefined);
export const trouble = signal("");

/** How often the open page asks for devices that came or went without an event. */
const LOOK_MS = 15_000;

const reads = new Reread(async () => {
  try {
    status.value = await readStatus();
    trouble.value = "";
  } catch (error) {
    trouble.value = textOf(error);
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
    say("good", `${plural(devices.length, "device")} signed out`);
  } catch (error) {
    failed("Not signed out", error);
  }
  await refresh();
}

export async function revoke(device: Device): Promise<void> {
  const name = device.current ? "this device" : deviceName(device.ua);
  const agreed = await ask({
    title: `Sign ${name} out?`,
    text: device.current
      ? "You need the password, or another device that shows a QR code, to come back."
      : "Its page closes at once. What runs in the sessions goes on.",
    action: "Sign out",
    danger: true,
  });
  if (agreed === undefined) return;
  if (!device.current) return end([device]);
  try {
    await revokeDevice(device.id);
    afterSignOut();
  } catch (error) {
    failed("Not signed out", error);
  }
}

export async function revokeOthers(): Promise<void> {
  const list = others(status.value?.authSessions ?? []);
  const agreed = await ask({
    title: "Sign all others out?",
    text: `${plural(list.length, "device")} must sign in again. Tokens go on working.`,
    action: "Sign out",
    danger: true,
  });
  if (agreed !== undefined) await end(list);
}

async function endUse(use: QrUse): Promise<void> {
  try {
    const found = openedBy(use, (await readStatus()).authSessions);
    for (const device of found) await revokeDevice(device.id);
    if (found.length > 0) say("good", "Signed out", "Whoever used the code is out again.");
    else say("info", "It is signed out already");
  } catch (error) {
    failed("Not signed out", error);
  }
  if (status.peek()) await refresh();
}

function qrUsed(data: unknown): void {
  const use = readQrUse(data);
  if (!use) return;
  say("bad", "A QR code was used to sign in", `${deviceName(use.ua)}, ${use.ip}. Was that you?`, {
    label: "No: sign it out",
    act: () => void endUse(use),
  });
}

/** For as long as the page lives: whoever photographs a code from a screen is seen. */
export function watchDevices(): void {
  onServerEvent("tunnel:qrAuthUsed", qrUsed);
}
