/** What a phone needs to come in, and the password that it needs first. */
import { api } from "../../api/client.ts";
import { keepKey, keyOf } from "../../api/key.ts";
import { holdStream, restartStream } from "../../api/stream/connection.ts";
import type { Phone } from "../../api/types.ts";
import { me, readPerson } from "../../store/me.ts";
import { resource } from "../../store/resource.ts";
import { showToast } from "../../store/toasts.ts";
import { signedOut, wasEnded } from "../auth/state.ts";

/** Whether there is a password, and whether this page may set one. */
export const access = resource(() => api.get("/api/me"), []);

/** The way in without a tunnel of the service's own. */
export const phone = resource(() => api.get("/api/tunnel/phone"), ["tunnel:"]);

export type StepState = "done" | "missing" | "later";

export interface Steps {
  password: StepState;
  address: StepState;
  https: StepState;
  /** Where the phone goes, once it can. */
  url: string | undefined;
}

/** An open service must not be reached from elsewhere: without a password the rest comes later. */
export function judgeSteps(signedIn: boolean, tunnelUrl: string | null, phoneUrl: Phone["url"]): Steps {
  const url = tunnelUrl ?? phoneUrl ?? undefined;
  const missing = signedIn ? "missing" : "later";
  return {
    password: signedIn ? "done" : "missing",
    address: url === undefined ? missing : "done",
    https: url === undefined ? "later" : url.startsWith("https:") ? "done" : "missing",
    url,
  };
}

/** Everybody else has to sign in from now on; this page is signed in by the answer. */
export async function setFirstPassword(password: string): Promise<void> {
  holdStream();
  try {
    const answer = await api.post("/api/auth/password", { body: { password } });
    keepKey(keyOf(answer));
    me.value = readPerson(answer);
    wasEnded.value = false;
    signedOut.value = false;
    showToast("good", "Password set", "Other pages and devices have to sign in now.");
  } finally {
    restartStream();
  }
  await access.refresh();
}
