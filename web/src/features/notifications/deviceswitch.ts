/** Switches the notifications of this browser on and off. */
import { api } from "../../api/client.ts";
import { pageKey } from "../../api/key.ts";
import { writeStored } from "../../lib/stored.ts";
import { storeAccess, removeAccess } from "../worker/access.ts";
import { registerWorker } from "../worker/registration.ts";
import { answers, ANSWERS_KEY, device, KEY, scope, supported } from "./devicestate.ts";

/** @param text base64url without padding: an uncompressed P-256 point, 65 bytes. */
export function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  if (bytes.length !== 65 || bytes[0] !== 4) throw new Error("The server's push key is invalid.");
  return bytes;
}

/** The worker is handed the page's key, or it is taken from it. */
export async function setAnswers(on: boolean): Promise<void> {
  writeStored(ANSWERS_KEY, on ? "on" : "off");
  answers.value = on;
  if (on) await storeAccess(scope(), pageKey());
  else await removeAccess(scope());
}

interface SubscriptionBody {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

function bodyOf(subscription: PushSubscription): SubscriptionBody {
  const { endpoint, keys } = subscription.toJSON();
  if (!endpoint || !keys?.["p256dh"] || !keys["auth"]) throw new Error("Your browser sent no push keys.");
  return { endpoint, keys: { p256dh: keys["p256dh"], auth: keys["auth"] } };
}

async function subscribe(registration: ServiceWorkerRegistration): Promise<void> {
  const { publicKey } = await api.get("/api/push/key");
  const wanted = { userVisibleOnly: true, applicationServerKey: keyBytes(publicKey) };
  let subscription: PushSubscription;
  try {
    subscription = await registration.pushManager.subscribe(wanted);
  } catch (error) {
    // A subscription under an older key of the service stands in the way of a new one.
    const old = await registration.pushManager.getSubscription();
    if (!old || !(error instanceof DOMException && error.name === "InvalidStateError")) throw error;
    await old.unsubscribe();
    subscription = await registration.pushManager.subscribe(wanted);
  }
  await api.post("/api/push/subscriptions", { body: bodyOf(subscription) });
}

/**
 * Switch on what the person allowed before.
 * @returns why push is missing, where it is: the page's own notifications work all the same.
 */
export async function connect(): Promise<unknown> {
  // Browsers may keep a registration waiting while the worker that is there has work.
  const known = await navigator.serviceWorker.getRegistration(document.baseURI);
  const registration = known ?? (await registerWorker());
  device.value = "page";
  try {
    await subscribe(registration);
    device.value = "push";
    return undefined;
  } catch (error) {
    return error;
  }
}

/** @returns why push is missing, where it is. */
export async function switchOn(): Promise<unknown> {
  if (!supported()) {
    device.value = "unsupported";
    return undefined;
  }
  const permission = await Notification.requestPermission();
  if (permission !== "granted") {
    device.value = permission === "denied" ? "denied" : "off";
    return undefined;
  }
  writeStored(KEY, "on");
  return connect();
}

async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  const subscription = await registration?.pushManager.getSubscription();
  if (!subscription) return;
  const { endpoint } = subscription;
  await subscription.unsubscribe();
  await api.delete("/api/push/subscriptions", { body: { endpoint } });
}

export async function switchOff(): Promise<void> {
  writeStored(KEY, "off");
  device.value = "off";
  if (answers.peek()) await setAnswers(false);
  await unsubscribe();
}

/** No more names of sessions on this screen; what was chosen is kept for the next sign-in. */
export async function leave(): Promise<void> {
  if (answers.peek()) await removeAccess(scope());
  if (device.value === "push") await unsubscribe();
}
