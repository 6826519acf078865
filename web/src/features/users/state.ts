/** The accounts, read when the page is open and again when one has changed. */
import { signal } from "@preact/signals";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showToast } from "../../store/toasts.ts";
import { me } from "../../store/me.ts";
import {
  changeUser,
  createUser,
  listUsers,
  logOutUser,
  type NewUser,
  removeUser,
  resetPassword,
  type UserResponse,
} from "./calls.ts";
import { type UserAction, buildQuestion } from "./texts.ts";
import { plural } from "../../lib/format.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { table } from "../../lib/table.ts";

export const users = signal<readonly UserResponse[] | undefined>(undefined);

/** A one-time password that nobody has confirmed to have kept. */
export const shownOnce = signal<{ name: string; password: string } | undefined>(undefined);

/** What went wrong last, and with whom; an empty name is the page itself. */
export const trouble = signal<{ name: string; text: string } | undefined>(undefined);

export const busy = signal<string | undefined>(undefined);

const reads = new CoalescedRead(async () => {
  try {
    users.value = (await listUsers()).users;
    if (trouble.peek()?.name === "") trouble.value = undefined;
  } catch (error) {
    trouble.value = { name: "", text: getErrorText(error) };
  }
});

export const refresh = (): Promise<void> => reads.now();

/** @returns a function that ends the following. */
export function followUsers(): () => void {
  void refresh();
  const stop = onServerEvent("admin:usersChanged", () => void refresh());
  return () => {
    stop();
    users.value = undefined;
    shownOnce.value = undefined;
    trouble.value = undefined;
  };
}

/** @throws ApiError: the name is taken, owns sessions, or there are too many. */
export async function create(body: NewUser): Promise<void> {
  const { user, oneTimePassword } = await createUser(body);
  if (oneTimePassword !== undefined) shownOnce.value = { name: user.username, password: oneTimePassword };
  await refresh();
}

const TEXTS: Record<string, (name: string) => string> = table({
  LAST_ADMIN: (name) => `${name} is the last enabled admin. Make another user an admin first.`,
  USER_NOT_FOUND: (name) => `The user ${name} no longer exists.`,
});

export function troubleText(error: unknown, name: string): string {
  const words = error instanceof ApiError ? TEXTS[error.code] : undefined;
  return words?.(name) ?? getErrorText(error);
}

async function reset(name: string): Promise<void> {
  const { oneTimePassword } = await resetPassword(name);
  shownOnce.value = { name, password: oneTimePassword };
}

async function logOut(name: string): Promise<void> {
  const { revoked, tokens } = await logOutUser(name);
  const ended = plural(revoked, "device signed out", "devices signed out");
  const left = tokens > 0 ? `; ${plural(tokens, "token stays", "tokens stay")} valid` : "";
  showToast("good", `${name} is signed out`, ended + left);
}

async function endTokens(name: string): Promise<void> {
  await logOutUser(name, true);
  showToast("good", `${name} is signed out and has no tokens`);
}

const DEEDS: Record<UserAction, (name: string) => Promise<unknown>> = {
  promote: (name) => changeUser(name, { role: "admin" }),
  demote: (name) => changeUser(name, { role: "user" }),
  grant: (name) => changeUser(name, { canBypassPermissions: true }),
  withdraw: (name) => changeUser(name, { canBypassPermissions: false }),
  enable: (name) => changeUser(name, { enabled: true }),
  disable: (name) => changeUser(name, { enabled: false }),
  reset,
  logout: logOut,
  tokens: endTokens,
  delete: removeUser,
};

async function attempt(name: string, act: () => Promise<unknown>): Promise<void> {
  busy.value = name;
  trouble.value = undefined;
  try {
    await act();
    await refresh();
  } catch (error) {
    trouble.value = { name, text: troubleText(error, name) };
  } finally {
    busy.value = undefined;
  }
}

export async function perform(deed: UserAction, user: UserResponse): Promise<void> {
  const name = user.username;
  const agreed = await askQuestion(buildQuestion(deed, user, name === me.peek()?.username));
  if (agreed !== undefined) await attempt(name, () => DEEDS[deed](name));
}

export async function askOsUser(user: UserResponse): Promise<void> {
  const name = user.username;
  const wanted = await askQuestion({
    title: `OS user of ${name}`,
    text: `New sessions of ${name} run as this OS user.`,
    action: "Set",
    input: "line",
    initial: user.osUser ?? "",
  });
  if (wanted !== undefined && wanted !== (user.osUser ?? ""))
    await attempt(name, () => changeUser(name, { osUser: wanted }));
}
