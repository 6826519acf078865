/** The service's accounts (protocol-users). */
import { request } from "../api/client.ts";

export type Role = "admin" | "user";

export interface User {
  username: string;
  role: Role;
  enabled: boolean;
  canBypassPermissions: boolean;
  mustChangePassword: boolean;
  createdAt: number;
  /** Whose shells this user's panes are; absent where the service has one user for all. */
  osUser?: string | null;
}

export interface NewUser {
  username: string;
  role: Role;
  canBypassPermissions: boolean;
  osUser?: string;
}

export interface UserChange {
  role?: Role;
  canBypassPermissions?: boolean;
  enabled?: boolean;
  osUser?: string;
}

const ALL = "api/admin/users";
const one = (name: string, rest = "") => `${ALL}/${encodeURIComponent(name)}${rest}`;

export const listUsers = () => request<{ users: User[] }>("GET", ALL);

export const createUser = (body: NewUser) =>
  request<{ user: User; oneTimePassword?: string }>("POST", ALL, { body });

export const changeUser = (name: string, body: UserChange) =>
  request<{ user: User }>("PATCH", one(name), { body });

export const removeUser = (name: string) => request<unknown>("DELETE", one(name));

export const resetPassword = (name: string) =>
  request<{ oneTimePassword: string }>("POST", one(name, "/reset-password"));

export const logOutUser = (name: string) => request<{ revoked: number }>("POST", one(name, "/logout"));
