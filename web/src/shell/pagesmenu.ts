/** The menu of all pages, and the way out. */
import { me } from "../store/me.ts";
import { canSignOut, signOutHere } from "../features/auth/state.ts";
import { type MenuItem, menuUnder } from "../ui/menu.ts";
import { availablePages, openPage } from "../ui/pages/registry.ts";

function leaveItem(): MenuItem[] {
  if (!canSignOut.value) return [];
  const name = me.value?.username;
  return [
    {
      label: name ? `Sign out · ${name}` : "Sign out",
      icon: "leave",
      group: true,
      act: () => void signOutHere(),
    },
  ];
}

function pageItems(): MenuItem[] {
  const pages = availablePages().map((page) => {
    const count = page.count?.() ?? 0;
    return {
      label: count > 0 ? `${page.title} (${count})` : page.title,
      icon: page.icon,
      keys: page.keys,
      act: () => void (openPage.value = page.id),
    };
  });
  return [...pages, ...leaveItem()];
}

export const openPagesMenu = (under: Element): void => menuUnder("Pages", pageItems(), under);
