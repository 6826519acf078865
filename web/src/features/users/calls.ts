/** The service's accounts (protocol-users). */
import { request } from "../../api/client.ts";
import type {
  NewUserResponse as MadeUser,
  OneTimePasswordResponse,
  UserEnvelope,
  UserResponse,
  UserPatch,
  UserListResponse,
  LoggedOutResponse,
} from "../../api/types.ts";

export type { UserResponse };
export type Role = UserResponse["role"];
export type NewUser = Pick<UserResponse, "username" | "role" | "canBypassPermissions" | "osUser">;
export type UserChange = UserPatch;

const ALL = "api/admin/users";
const one = (name: string, rest = "") => `${ALL}/${encodeURIComponent(name)}${rest}`;

export const listUsers = () => request<UserListResponse>("GET", ALL);

export const createUser = (body: NewUser) => request<MadeUser>("POST", ALL, { body });

export const changeUser = (name: string, body: UserChange) =>
  request<UserEnvelope>("PATCH", one(name), { body });

export const removeUser = (name: string) => request<unknown>("DELETE", one(name));

export const resetPassword = (name: string) =>
  request<OneTimePasswordResponse>("POST", one(name, "/reset-password"));

/** @param tokens end the account's tokens too; the answer's `tokens` live on. */
export const logOutUser = (name: string, tokens = false) =>
  request<LoggedOutResponse>("POST", one(name, "/logout"), { body: { tokens } });
