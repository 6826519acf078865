/** Coming in without the form, by a scanned code. */
import { api } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { keepKey, takeKeyFromAddress } from "../../api/key.ts";

/** Anybody can make a link with a key in it: one that opens nothing takes the place of none. */
export async function signInByLink(): Promise<void> {
  const handed = takeKeyFromAddress();
  if (handed === undefined) return;
  try {
    await api.get("/api/me", { key: handed, anonymous: true });
    keepKey(handed);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.warn("the key in the address is not valid", error.message);
  }
}
