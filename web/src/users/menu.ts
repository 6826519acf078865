/** What an admin can do with an account, as menu items. */
import type { MenuItem } from "../ui/menu.ts";
import type { UserResponse } from "./calls.ts";
import { askOsUser, perform } from "./state.ts";
import type { Deed } from "./words.ts";

function grantItems(user: UserResponse, item: (deed: Deed, label: string) => MenuItem): MenuItem[] {
  // Admins may run anything by being admins.
  if (user.role === "admin") return [];
  return [
    user.canBypassPermissions
      ? item("withdraw", "Withdraw “may run anything”")
      : item("grant", "Allow to run anything"),
  ];
}

/** @param osUsers whether panes can run as other users of the machine. */
export function userItems(user: UserResponse, osUsers: boolean): MenuItem[] {
  const item = (deed: Deed, label: string, more: Partial<MenuItem> = {}): MenuItem => ({
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
    item("tokens", "End all tokens"),
    user.enabled
      ? item("disable", "Disable", { danger: true, group: true })
      : item("enable", "Enable", { group: true }),
    item("delete", "Delete", { icon: "close", danger: true }),
  ];
}
