/**
 * The seam for further features: one folder each, registering its pages here.
 *
 * A page stands in the place of the terminals, with an entry in the page menu and an address of its
 * own (`?page=<id>`); some stand beside the terminal where the window is wide. Its code is loaded
 * when it is first opened.
 */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { IconName } from "../Icon.tsx";

export interface Page {
  id: string;
  title: string;
  icon: IconName;
  /** Place in the menu; low comes first. */
  order: number;
  /** Hover text's key hint. */
  keys?: string;
  load: () => Promise<ComponentType>;
  /** Whether the feature is on, read where signals are tracked; absent = always. */
  available?: () => boolean;
  /** It can stand beside the terminal, in a narrow column. */
  beside?: boolean;
  /** A count beside the entry (things that wait); 0 shows nothing. */
  count?: () => number;
}

/** Pages that other features open. */
export const AWAY_PAGE = "away";
export const CRON_PAGE = "cron";
export const FILES_PAGE = "files";
export const GIT_PAGE = "git";
export const HOSTS_PAGE = "hosts";
export const RESTORE_PAGE = "restore";
export const REVIEW_PAGE = "review";
export const RULES_PAGE = "rules";

const pages = new Map<string, Page>();

/** Where whoever has no agent yet begins. */
export const FIRST_PAGE = "first";

/** The open page's id. */
export const openPage = signal<string | undefined>(undefined);

export function registerPage(page: Page): void {
  if (pages.has(page.id)) throw new Error(`page ${page.id} is registered twice`);
  pages.set(page.id, page);
}

export function availablePages(): Page[] {
  return [...pages.values()]
    .filter((page) => page.available?.() ?? true)
    .toSorted((a, b) => a.order - b.order);
}

export function findPage(id: string | undefined): Page | undefined {
  return availablePages().find((page) => page.id === id);
}
