/** What an admin can do with an account, as menu items. */
import type { MenuItem } from "../../ui/menu.ts";
import type { UserResponse } from "../../api/types.ts";
import { askOsUser, perform } from "./state.ts";
import type { UserAction } from "./texts.ts";

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
