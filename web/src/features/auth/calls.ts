/** Who the caller is, and the caller's own password (protocol-login). */
import { request } from "../../api/client.ts";
import type { CallerResponse } from "../../api/types.ts";

/** @param key tried in the place of this page's own, which a refusal then says nothing about. */
export const readMe = (key?: string) =>
  request<CallerResponse>("GET", "api/me", key === undefined ? {} : { key, anonymous: true });

export const changePassword = (currentPassword: string, newPassword: string) =>
  request<unknown>("PUT", "api/me/password", { body: { currentPassword, newPassword } });
