/** The service's accounts (protocol-users). */
import { request } from "../api/client.ts";
import type {
  NewUser as MadeUser,
  OneTime,
  OneUser,
  User,
  UserPatch,
  Users,
  LoggedOut,
} from "../api/types.ts";

export type { User };
export type Role = User["role"];
export type NewUser = Pick<User, "username" | "role" | "canBypassPermissions" | "osUser">;
export type UserChange = UserPatch;

const ALL = "api/admin/users";
const one = (name: string, rest = "") => `${ALL}/${encodeURIComponent(name)}${rest}`;

export const listUsers = () => request<Users>("GET", ALL);

export const createUser = (body: NewUser) => request<MadeUser>("POST", ALL, { body });

export const changeUser = (name: string, body: UserChange) => request<OneUser>("PATCH", one(name), { body });

export const removeUser = (name: string) => request<unknown>("DELETE", one(name));

export const resetPassword = (name: string) => request<OneTime>("POST", one(name, "/reset-password"));

/** @param tokens end the account's tokens too; the answer's `tokens` live on. */
export const logOutUser = (name: string, tokens = false) =>
  request<LoggedOut>("POST", one(name, "/logout"), { body: { tokens } });
