/** Coming in without the form: by a scanned code, or with a password that the browser holds. */
import { signIn } from "../api/calls.ts";
import { keepKey, keyOf, leftHere, takeHanded } from "../api/key.ts";
import { ApiError } from "../api/errors.ts";
import { readMe } from "./calls.ts";

/** Anybody can make a link with a key in it: one that opens nothing takes the place of none. */
export async function arrive(): Promise<void> {
  const handed = takeHanded();
  if (handed === undefined) return;
  try {
    await readMe(handed);
    keepKey(handed);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.warn("the key of the address opens nothing", error.message);
  }
}

/**
 * Sign in with the password that the browser itself sends along (Basic), if it holds one.
 * @returns whether it did.
 */
export async function enterSilently(): Promise<boolean> {
  if (leftHere()) return false;
  try {
    keepKey(keyOf(await signIn()));
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}
