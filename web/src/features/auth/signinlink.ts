/** Coming in without the form, by a scanned code. */
import { ApiError } from "../../api/errors.ts";
import { keepKey, takeKeyFromAddress } from "../../api/key.ts";
import { readMe } from "./calls.ts";

/** Anybody can make a link with a key in it: one that opens nothing takes the place of none. */
export async function signInByLink(): Promise<void> {
  const handed = takeKeyFromAddress();
  if (handed === undefined) return;
  try {
    await readMe(handed);
    keepKey(handed);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.warn("the key in the address is not valid", error.message);
  }
}
