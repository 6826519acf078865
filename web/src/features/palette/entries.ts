/** What the palette offers: sessions first, then what can be done. */
import { getCurrentStatus } from "../agents/currentstatus.ts";
import type { Session } from "../../api/types.ts";
import { attentionRank } from "../approvals/state.ts";
import { availablePages, openPage } from "../../ui/pages/registry.ts";
import { layoutItems } from "../grid/menu.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionItems } from "../sessions/menu.ts";
import { newSessionOpen, historyOpen, searchOpen } from "../../ui/pages/openpanels.ts";
import { activeId, activeSession, sessions } from "../../store/state.ts";
import type { MenuItem } from "../../ui/menu.ts";
import { match } from "./fuzzy.ts";
import type { Entry, Hit } from "./model.ts";
import { listMoreEntries } from "./moreentries.ts";

/** More than these nobody reads; typing on narrows them. */
export const SHOWN = 60;

function sessionEntry(session: Session): Entry {
  const { word, reason } = getCurrentStatus(session);
  return {
    key: session.id,
    group: "Sessions",
    label: session.name,
    detail: [reason ? `${word}: ${reason}` : word, session.workingDir].join(" · "),
    session,
    act: () => select(session.id),
  };
}

function itemEntry(item: MenuItem): Entry {
  return {
    key: `item-${item.label}`,
    group: "This session",
    label: item.label,
    icon: item.icon,
    keys: item.keys,
    act: item.act,
  };
}

/** Whoever waits for a person first, then as the tabs stand; the one in front comes last. */
function ordered(): Session[] {
  const rank = ({ id }: Session) => (id === activeId.value ? 3 : attentionRank(id));
  return sessions.value.toSorted((a, b) => rank(a) - rank(b));
}

function ofActive(): Entry[] {
  const session = activeSession.value;
  if (!session) return [];
  const { id } = session;
  const own: MenuItem[] = [
    {
      label: "Search the terminal",
      icon: "search",
      keys: "Ctrl+Shift+F",
      act: () => {
        openPage.value = undefined;
        searchOpen.value = true;
      },
    },
    {
      label: "Full history",
      icon: "history",
      keys: "Alt+Shift+H",
      act: () => (historyOpen.value = { sessionId: id, query: "" }),
    },
  ];
  const items = sessionItems(session, innerWidth / 2, innerHeight / 4);
  return [...own, ...items.filter((item) => !item.disabled)].map(itemEntry);
}

function places(): Entry[] {
  const create: Entry = {
    key: "new",
    group: "Go to",
    label: "New session",
    icon: "plus",
    keys: "Alt+Shift+N",
    act: () => (newSessionOpen.value = true),
  };
  const cells = layoutItems().map((item): Entry => ({ ...itemEntry(item), group: "Go to", icon: "cells" }));
  const pages = availablePages().map((page): Entry => ({
    key: `page-${page.id}`,
    group: "Go to",
    label: page.title,
    icon: page.icon,
    keys: page.keys,
    act: () => (openPage.value = page.id),
  }));
  return [create, ...pages, ...cells];
}

/** Everything, as it is now; reads signals. */
export const listEntries = (): Entry[] => [
  ...ordered().map(sessionEntry),
  ...places(),
  ...ofActive(),
  ...listMoreEntries(),
];

/** The entries that `letters` may mean, the likeliest first; without letters all, as they stand. */
export function searchEntries(all: readonly Entry[], letters: string): Hit[] {
  if (letters.trim() === "") return all.slice(0, SHOWN).map((entry) => ({ entry, at: [] }));
  const hits: (Hit & { score: number })[] = [];
  for (const entry of all) {
    const label = match(entry.label, letters);
    const detail = label ?? (entry.detail === undefined ? undefined : match(entry.detail, letters));
    if (detail) hits.push({ entry, at: label?.at ?? [], score: detail.score - (label ? 0 : BESIDE) });
  }
  return hits.toSorted((a, b) => b.score - a.score).slice(0, SHOWN);
}

/** A hit in the detail counts for less than any in a label. */
const BESIDE = 1000;
