import { signal } from "@preact/signals";
import { signOut } from "../api/calls.ts";
import { whenUnauthorized } from "../api/client.ts";
import { readStored, writeStored } from "../settings/prefs.ts";
import { stopStream } from "../stream/connection.ts";
import { failed } from "../ui/toasts.ts";

/** Nobody is signed in, and the service wants somebody to be. */
export const signedOut = signal(false);

const KEY = "tservice.signedin";

/** This browser signed in by the form: only then is there something to sign out of. */
export const canSignOut = signal(false);

function lockUp(): void {
  signedOut.value = true;
  stopStream();
}

export function startAuth(): void {
  canSignOut.value = readStored(KEY) === "yes";
  whenUnauthorized(lockUp);
}

export function signedIn(): void {
  writeStored(KEY, "yes");
  canSignOut.value = true;
  signedOut.value = false;
}

const farewells = new Set<() => Promise<void>>();

/** Have `farewell` done while the person is still signed in. */
export function beforeSignOut(farewell: () => Promise<void>): void {
  farewells.add(farewell);
}

export async function leave(): Promise<void> {
  try {
    for (const farewell of farewells) await farewell();
    await signOut();
    writeStored(KEY, "no");
    canSignOut.value = false;
    lockUp();
  } catch (error) {
    failed("Not signed out", error);
  }
}
