import { api, whenForbidden, whenKeyWanted, whenUnauthorized } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { keepKey, takeKeyFromAddress, forgetKey, holdsKey, keyOf, startKey } from "../../api/key.ts";
import { computed, effect, signal } from "@preact/signals";
import { signIn, signOut } from "../../api/calls.ts";
import { serviceUrl } from "../../api/paths.ts";
import { holdStream, restartStream, stopStream } from "../../api/stream/connection.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { forgetShared } from "../worker/sharedcache.ts";
import { isMultiUser, me, passwordDue, readPerson } from "../../store/me.ts";

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

/** Nobody is signed in, and the service wants somebody to be. */
export const signedOut = signal(false);

/** The service ended what was open: somebody revoked it, or its time was over. */
export const wasEnded = signal(false);

export const canSignOut = computed(() => holdsKey.value || isMultiUser.value);

/**
 * The password of the last sign-in, for as long as it must be changed: whoever has just copied a
 * one-time password into the form need not find it again.
 */
let justTyped = "";

export const knowsCurrent = signal(false);

function keepTyped(password: string): void {
  justTyped = password;
  knowsCurrent.value = password !== "";
}

function lockUp(): void {
  signedOut.value = true;
  keepTyped("");
  stopStream();
}

function unauthorized(): void {
  wasEnded.value ||= me.peek() !== undefined;
  me.value = undefined;
  lockUp();
}

/** Where the browser keeps no cookies, each key is in vain: then no more often than this. */
const KEY_PAUSE_MS = 60_000;
let fetchedAt = -KEY_PAUSE_MS;

/** The browser itself holds a password (Basic), which it sends along with some requests only. */
async function fetchKey(): Promise<void> {
  if (performance.now() - fetchedAt < KEY_PAUSE_MS) return;
  fetchedAt = performance.now();
  try {
    keepKey(keyOf(await signIn()));
    restartStream();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.warn("the server sent no key", error.message);
  }
}

async function lookAgain(): Promise<void> {
  try {
    me.value = readPerson(await api.get("/api/me"));
  } catch (error) {
    // The stream tries again by itself, and says in the banner that it does.
    if (!(error instanceof ApiError)) throw error;
    console.warn("the server did not say who is signed in", error.message);
  }
}

export function startAuth(): void {
  startKey();
  whenUnauthorized(unauthorized);
  whenKeyWanted(() => void fetchKey());
  whenForbidden(() => void lookAgain());
  effect(() => {
    if (passwordDue.value) stopStream();
    follow(me.value?.username);
  });
}

/**
 * Begin anew: nothing of a person's, terminals, drafts and lists, stays in this page's memory, nor what
 * they shared with it in the browser's.
 */
function startOver(): void {
  const home = serviceUrl("./", document.baseURI);
  // Not waited for: what this page shows is over now.
  forgetShared(home).catch((error: unknown) => console.error("the shared items were not deleted", error));
  location.replace(home);
}

/** Whoever was in last on this page. */
let last: string | undefined;

/** Somebody else signed in in another tab: the cookie and the key are one for all of them. */
function follow(name: string | undefined): void {
  const other = name !== undefined && last !== undefined && name !== last;
  last = name ?? last;
  if (other) startOver();
}

/** @throws ApiError as the service refuses it. */
export async function signInWithPassword(username: string, password: string): Promise<void> {
  const answer = await signIn({ username, password });
  keepKey(keyOf(answer));
  const person = readPerson(answer);
  if (last !== undefined && last !== person?.username) return startOver();
  me.value = person;
  wasEnded.value = false;
  signedOut.value = false;
  if (passwordDue.value) keepTyped(password);
  else restartStream();
}

/**
 * @param current the present password; empty for the one that was just typed to sign in.
 * @throws ApiError as the service refuses it.
 */
export async function setPassword(current: string, wanted: string): Promise<void> {
  holdStream();
  try {
    const body = { currentPassword: current || justTyped, newPassword: wanted };
    keepKey(keyOf(await api.put("/api/me/password", { body })));
  } catch (error) {
    if (!passwordDue.peek()) restartStream();
    throw error;
  }
  keepTyped("");
  const before = me.peek();
  if (before) me.value = { ...before, mustChangePassword: false };
  showToast("good", "Password changed", "Your other devices are signed out.");
  restartStream();
}

const farewells = new Set<() => Promise<void>>();

/** Have `farewell` done while the person is still signed in. */
export function beforeSignOut(farewell: () => Promise<void>): void {
  farewells.add(farewell);
}

/** Back to the form, for another account than one that has opened nothing yet. */
export function resetSignIn(): void {
  me.value = undefined;
  wasEnded.value = false;
  lockUp();
}

/** The service has ended this device's session, as it was asked to. */
export function afterSignOut(): void {
  forgetKey();
  resetSignIn();
  startOver();
}

export async function signOutHere(): Promise<void> {
  try {
    for (const farewell of farewells) await farewell();
    await signOut();
    afterSignOut();
  } catch (error) {
    showError("Couldn't sign out", error);
  }
}
