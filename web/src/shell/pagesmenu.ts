/** The menu of all pages, a few in sight and the rest by what they are about, and the way out. */
import { me } from "../store/me.ts";
import { canSignOut, signOutHere } from "../features/auth/state.ts";
import type { IconName } from "../ui/Icon.tsx";
import { type MenuItem, menuUnder } from "../ui/menu.ts";
import { availablePages, openPage, type Page } from "../ui/pages/registry.ts";

/** What people open many times a day. */
const IN_SIGHT = ["fleet", "approvals", "conversations", "cron", "settings"];

interface Area {
  title: string;
  icon: IconName;
  pages: readonly string[];
}

const WORK: Area = {
  title: "Work",
  icon: "folder",
  pages: ["away", "restore", "cases", "files", "review", "git", "webtabs", "shared"],
};

const AREAS: readonly Area[] = [
  WORK,
  { title: "Machines", icon: "server", pages: ["hosts", "containers", "clis", "models", "mcp"] },
  { title: "Access", icon: "key", pages: ["devices", "tokens", "users", "audit"] },
  { title: "About", icon: "help", pages: ["doctor", "help"] },
];

/** A page that no area names is about work. */
const areaOf = ({ id }: Page): Area => AREAS.find(({ pages }) => pages.includes(id)) ?? WORK;

/** Something there waits for a person, or it is opened often. */
const isInSight = (page: Page): boolean => IN_SIGHT.includes(page.id) || (page.count?.() ?? 0) > 0;

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

function pageItem(page: Page): MenuItem {
  const count = page.count?.() ?? 0;
  return {
    label: count > 0 ? `${page.title} (${count})` : page.title,
    icon: page.icon,
    keys: page.keys,
    act: () => void (openPage.value = page.id),
  };
}

/** @returns the items, of which those of an area open a menu of their own below the same button. */
export function listPageItems(under: Element): MenuItem[] {
  const pages = availablePages();
  const hidden = pages.filter((page) => !isInSight(page));
  const areas = AREAS.map(({ title, icon }) => ({
    title,
    icon,
    items: hidden.filter((page) => areaOf(page).title === title).map(pageItem),
  })).filter(({ items }) => items.length > 0);
  return [
    ...pages.filter(isInSight).map(pageItem),
    ...areas.map(({ title, icon, items }, at) => ({
      label: title,
      icon,
      group: at === 0,
      opensMenu: true,
      act: () => menuUnder(title, items, under),
    })),
    ...leaveItem(),
  ];
}

export const openPagesMenu = (under: Element): void => menuUnder("Pages", listPageItems(under), under);
