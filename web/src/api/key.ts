/**
 * What goes with this page's cookie, which is worth nothing without it: cookies know no port, so
 * other programs of the host are handed ours. This storage belongs to the origin, port included,
 * and is shared by its tabs.
 */
import { signal } from "@preact/signals";
import { readStored, writeStored } from "../lib/stored.ts";
import { serviceUrl } from "./paths.ts";

export const KEY_HEADER = "X-Service-Key";

/** A page without a key says so, and is judged as a page. */
const NONE = "none";

/** Put before a key that the page finds in its address: it opens a scanned code's session only. */
const SCANNED = "qr-";

/** One for each base path: services behind one reverse proxy share the storage. */
const name = (): string => `tservice.key ${new URL(serviceUrl("./", document.baseURI)).pathname}`;

/** Where the browser keeps nothing, a key lasts as long as the page. */
let unkept: string | undefined;

const stored = (): string => readStored(name()) ?? unkept ?? "";

/** Whether this browser signed in: only then is there something to sign out of. */
export const holdsKey = signal(false);

export function startKey(): void {
  holdsKey.value = stored() !== "";
}

/** What a request shows; read anew each time, as another tab may have signed in. */
export const pageKey = (): string => stored() || NONE;

/** The subprotocols of an upgrade, which can carry no header. */
export function keyProtocols(): string[] {
  const key = stored();
  return key === "" ? [] : ["tservice", `key.${key}`];
}

/** @returns the key in the answer to a sign-in; undefined where nobody has to sign in. */
export function keyOf(answer: unknown): string | undefined {
  const { key } = (answer ?? {}) as { key?: unknown };
  return typeof key === "string" && key !== "" ? key : undefined;
}

export function keepKey(key: string | undefined): void {
  if (key === undefined) return;
  unkept = key;
  writeStored(name(), key);
  holdsKey.value = true;
}

export function forgetKey(): void {
  unkept = "";
  writeStored(name(), "");
  holdsKey.value = false;
}

/** The key that a scanned code's redirect put into the address, which is cleared of it. */
export function takeKeyFromAddress(): string | undefined {
  const handed = /^#key=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (handed === undefined) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return SCANNED + handed;
}
