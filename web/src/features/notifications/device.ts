/** What this browser's notifications need at the start of the page, at its end and for each notice. */
import { serviceUrl } from "../../api/paths.ts";
import { readStored } from "../../lib/stored.ts";
import { answers, ANSWERS_KEY, type Device, device, KEY, supported } from "./devicestate.ts";

/** Whoever signs out wants no more names of sessions on this screen. */
export async function leaveDevice(): Promise<void> {
  if (answers.peek() || device.value === "push") await (await import("./deviceswitch.ts")).leave();
}

function initial(): Device {
  if (!supported()) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return "off";
}

/** At the page's start: what was switched on stays on; the service may have dropped it. */
export async function resume(): Promise<void> {
  device.value = initial();
  const on = readStored(KEY) === "on" && device.value === "off" && Notification.permission === "granted";
  if (!on) return;
  const { connect, setAnswers } = await import("./deviceswitch.ts");
  const missing = await connect();
  if (missing !== undefined) console.warn("push is not available", missing);
  // The key is another one after each sign-in.
  if (readStored(ANSWERS_KEY) === "on") await setAnswers(true);
}

/**
 * Through the worker: a phone's browser refuses notifications of a page itself.
 * @param page what a press opens; undefined: the session alone.
 */
export async function showNotification(
  title: string,
  body: string,
  sessionId: string,
  page?: string,
): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  await registration?.showNotification(title, {
    body,
    tag: `tservice-${sessionId}`,
    icon: serviceUrl("icons/icon-192.png", document.baseURI),
    data: { sessionId, page },
  });
}
