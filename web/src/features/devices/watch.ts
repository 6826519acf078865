/** Whoever photographs a code from a screen is seen, on every page. */
import { onServerEvent } from "../../api/stream/events.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { type QrUse, readQrUse, deviceName } from "./texts.ts";

async function endUse(use: QrUse): Promise<void> {
  try {
    await (await import("./state.ts")).endUse(use);
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
}

function qrUsed(data: unknown): void {
  const use = readQrUse(data);
  if (!use) return;
  showToast("bad", "Someone signed in with a QR code", `${deviceName(use.ua)}, ${use.ip}. Was that you?`, {
    label: "No, sign it out",
    act: () => void endUse(use),
  });
}

export function watchDevices(): void {
  onServerEvent("tunnel:qrAuthUsed", qrUsed);
}
