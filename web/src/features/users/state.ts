/** The accounts, read when the page is open and again when one has changed. */
import type { MenuItem } from "../../ui/menu.ts";
import type { UserResponse, NewUserBody, UserPatch } from "../../api/types.ts";
import { type UserAction, buildQuestion } from "./texts.ts";
import { signal } from "@preact/signals";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showToast } from "../../store/toasts.ts";
import { me } from "../../store/me.ts";
import { api } from "../../api/client.ts";
import { plural } from "../../lib/format.ts";
import { resource } from "../../store/resource.ts";
import { table } from "../../lib/table.ts";

function grantItems(user: UserResponse, item: (deed: UserAction, label: string) => MenuItem): MenuItem[] {
  // Admins may run anything by being admins.
  if (user.role === "admin") return [];
  return [
    user.canBypassPermissions
      ? item("withdraw", "Revoke “can run anything”")
      : item("grant", "Allow running anything"),
  ];
}

/** @param osUsers whether panes can run as other users of the machine. */
export function userItems(user: UserResponse, osUsers: boolean): MenuItem[] {
  const item = (deed: UserAction, label: string, more: Partial<MenuItem> = {}): MenuItem => ({
    label,
    act: () => void perform(deed, user),
    ...more,
  });
  return [
    user.role === "admin" ? item("demote", "Make user") : item("promote", "Make admin"),
    ...grantItems(user, item),
    ...(osUsers ? [{ label: "OS user…", act: () => void askOsUser(user) }] : []),
    item("reset", "Reset password", { icon: "key", group: true }),
    item("logout", "Sign out everywhere", { icon: "leave" }),
    item("tokens", "Revoke all tokens"),
    user.enabled
      ? item("disable", "Disable", { danger: true, group: true })
      : item("enable", "Enable", { group: true }),
    item("delete", "Delete", { icon: "close", danger: true }),
  ];
}

export const users = resource(async () => (await api.get("/api/admin/users")).users, ["admin:usersChanged"]);

/** A one-time password that nobody has confirmed to have kept. */
export const shownOnce = signal<{ name: string; password: string } | undefined>(undefined);

/** What went wrong last with one of them. */
export const trouble = signal<{ name: string; text: string } | undefined>(undefined);

export const busy = signal<string | undefined>(undefined);

/** @returns a function that ends the following. */
export function followUsers(): () => void {
  const end = users.follow();
  return () => {
    end();
    shownOnce.value = undefined;
    trouble.value = undefined;
  };
}

/** @throws ApiError: the name is taken, owns sessions, or there are too many. */
export async function create(body: NewUserBody): Promise<void> {
  const { user, oneTimePassword } = await api.post("/api/admin/users", { body });
  if (oneTimePassword !== undefined) shownOnce.value = { name: user.username, password: oneTimePassword };
  await users.refresh();
}

const TEXTS: Record<string, (name: string) => string> = table({
  LAST_ADMIN: (name) => `${name} is the last enabled admin. Make another user an admin first.`,
  USER_NOT_FOUND: (name) => `The user ${name} no longer exists.`,
});

export function troubleText(error: unknown, name: string): string {
  const words = error instanceof ApiError ? TEXTS[error.code] : undefined;
  return words?.(name) ?? getErrorText(error);
}

const change = (name: string, body: UserPatch) =>
  api.patch("/api/admin/users/{name}", { path: { name }, body });

const remove = (name: string) => api.delete("/api/admin/users/{name}", { path: { name } });

async function reset(name: string): Promise<void> {
  const { oneTimePassword } = await api.post("/api/admin/users/{name}/reset-password", { path: { name } });
  shownOnce.value = { name, password: oneTimePassword };
}

/** @param tokens the account's tokens end too; those that live on are counted in the answer. */
const endSignIns = (name: string, tokens: boolean) =>
  api.post("/api/admin/users/{name}/logout", { path: { name }, body: { tokens } });

async function logOut(name: string): Promise<void> {
  const { revoked, tokens } = await endSignIns(name, false);
  const ended = plural(revoked, "device signed out", "devices signed out");
  const left = tokens > 0 ? `; ${plural(tokens, "token stays", "tokens stay")} valid` : "";
  showToast("good", `${name} is signed out`, ended + left);
}

async function endTokens(name: string): Promise<void> {
  await endSignIns(name, true);
  showToast("good", `${name} is signed out and has no tokens`);
}

const DEEDS: Record<UserAction, (name: string) => Promise<unknown>> = {
  promote: (name) => change(name, { role: "admin" }),
  demote: (name) => change(name, { role: "user" }),
  grant: (name) => change(name, { canBypassPermissions: true }),
  withdraw: (name) => change(name, { canBypassPermissions: false }),
  enable: (name) => change(name, { enabled: true }),
  disable: (name) => change(name, { enabled: false }),
  reset,
  logout: logOut,
  tokens: endTokens,
  delete: remove,
};

async function attempt(name: string, act: () => Promise<unknown>): Promise<void> {
  busy.value = name;
  trouble.value = undefined;
  try {
    await act();
    await users.refresh();
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
    await attempt(name, () => change(name, { osUser: wanted }));
}
