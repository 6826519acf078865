/** Whoever photographs a code from a screen is seen, on every page. */
import { onServerEvent } from "../../api/stream/events.ts";
import { showToast } from "../../store/toasts.ts";

function qrUsed(data: unknown): void {
  import("./qruse.ts").then(
    ({ askAboutQrUse }) => askAboutQrUse(data),
    () => showToast("bad", "Someone signed in with a QR code", "Look at the devices in the settings."),
  );
}

export function watchDevices(): void {
  onServerEvent("tunnel:qrAuthUsed", qrUsed);
}
