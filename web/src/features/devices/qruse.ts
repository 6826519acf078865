/** Asks whether a sign-in with a QR code was this person's. */
import { showError, showToast } from "../../store/toasts.ts";
import { endUse as endDevice } from "./state.ts";
import { type QrUse, readQrUse, deviceName } from "./texts.ts";

async function endUse(use: QrUse): Promise<void> {
  try {
    await endDevice(use);
  } catch (error) {
    showError("Couldn't sign out the device", error);
  }
}

export function askAboutQrUse(data: unknown): void {
  const use = readQrUse(data);
  if (!use) return;
  showToast("bad", "Someone signed in with a QR code", `${deviceName(use.ua)}, ${use.ip}. Was that you?`, {
    label: "No, sign it out",
    act: () => void endUse(use),
  });
}
