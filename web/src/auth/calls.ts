/** Who the caller is, and the caller's own password (wire 22). */
import { request } from "../api/client.ts";

export interface Me {
  username: string;
  role: "admin" | "user";
  mustChangePassword: boolean;
  multiUser: boolean;
}

export const readMe = () => request<Me>("GET", "api/me");

export const changePassword = (currentPassword: string, newPassword: string) =>
  request<unknown>("PUT", "api/me/password", { body: { currentPassword, newPassword } });
