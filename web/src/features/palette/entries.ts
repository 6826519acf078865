/** What the palette offers: sessions first, then what can be done. */
import { api } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { shortenPath, truncateText } from "../../lib/format.ts";
import { change, prefs, type ThemeChoice } from "../../store/prefs.ts";
import { activeId, activeSession, cliOf, sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import type { IconName } from "../../ui/Icon.tsx";
import type { MenuItem } from "../../ui/menu.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { availablePages, openPage } from "../../ui/pages/registry.ts";
import { select } from "../../ui/pages/select.ts";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import { openInbox } from "../approvals/openinbox.ts";
import { attentionRank, inboxEnabled, needsYou } from "../approvals/state.ts";
import { canSignOut } from "../auth/state.ts";
import { layoutItems } from "../grid/menu.ts";
import { gridOn } from "../grid/state.ts";
import { focusPrompt } from "../prompt/focus.ts";
import { getPromptState, sentBefore, writeDraft } from "../prompt/state.ts";
import { seenSessions } from "../sidebar/state.ts";
import { sessionItems } from "../sessions/menu.ts";
import { newSessionPlace } from "../sessions/newsession.ts";
import { livePid } from "../sessions/status.ts";
import { PART_NAMES, type PartName, wantedSetting } from "../settings/parts.ts";
import { SETTING_NAMES } from "../settings/settingnames.ts";
import { COMMANDS } from "../shortcuts/commands.ts";
import { runAction } from "../shortcuts/listen.ts";
import { type Action, formatKeysOf } from "../shortcuts/table.ts";
import { PART_WORDS, SETTING_WORDS, WORDS } from "./words.ts";

export interface Entry {
  key: string;
  label: string;
  /** Said beside the label and searched too. */
  detail?: string | undefined;
  /** Other words for it. */
  words?: string | undefined;
  icon?: IconName | undefined;
  keys?: string | undefined;
  session?: Session;
  /** A command, which is offered first when it was used before. */
  command?: boolean;
  act: () => void;
}

const command = (entry: Omit<Entry, "command">): Entry => ({
  words: WORDS[entry.key],
  ...entry,
  command: true,
});

function sessionEntry(session: Session): Entry {
  const { word, reason } = getCurrentStatus(session);
  return {
    key: session.id,
    label: session.name,
    detail: [reason ? `${word}: ${reason}` : word, session.workingDir].join(" · "),
    session,
    act: () => select(session.id),
  };
}

/** Whoever waits for a person first, then as they are seen; the one in front comes last. */
function listSessions(): Entry[] {
  const rank = ({ id }: Session) => (id === activeId.value ? 3 : attentionRank(id));
  const seen = [...new Set([...seenSessions.value, ...sessions.value])];
  return seen.toSorted((a, b) => rank(a) - rank(b)).map(sessionEntry);
}

/** Escape is what agents stop for; a shell's program gets what its terminal makes of Ctrl+C. */
async function interrupt(session: Session): Promise<void> {
  const key = cliOf(session.mode)?.kind === "agent" ? "Escape" : "C-c";
  try {
    await api.post("/api/sessions/{id}/send-key", { path: { id: session.id }, body: { key } });
  } catch (error) {
    showError("Couldn't interrupt", error);
  }
}

/** Pages have entries of their own. */
const PAGE_ITEMS: ReadonlySet<string> = new Set(["Files", "Changes"]);
const ITEM_ACTIONS: Readonly<Partial<Record<string, Action>>> = { Rename: "rename", Close: "close" };

function itemEntry(session: Session, item: MenuItem): Entry {
  const action = ITEM_ACTIONS[item.label];
  return command({
    key: `session-${item.label}`,
    label: item.label,
    detail: session.name,
    icon: item.icon,
    keys: action ? formatKeysOf(action) : item.keys,
    act: item.act,
  });
}

/** What can be done with the session in front. */
function listSessionActions(): Entry[] {
  const session = activeSession.value;
  if (!session) return [];
  const detail = session.name;
  const answer = command({
    key: "session-answer",
    label: "Answer",
    detail,
    icon: "bell",
    keys: formatKeysOf("approvals"),
    act: openInbox,
  });
  const stop = command({
    key: "session-interrupt",
    label: "Interrupt",
    detail,
    icon: "skip",
    act: () => void interrupt(session),
  });
  const items = sessionItems(session, innerWidth / 2, innerHeight / 4).filter(
    (item) => !item.disabled && !PAGE_ITEMS.has(item.label),
  );
  return [
    ...(needsYou(session.id) && inboxEnabled.value ? [answer] : []),
    ...(livePid(session) === null ? [] : [stop]),
    ...(["search", "history"] as const).map((action) => ({
      ...commandEntry(action),
      key: `session-${action}`,
      words: WORDS[`session-${action}`],
    })),
    ...items.map((item) => itemEntry(session, item)),
  ];
}

function commandEntry(action: Action): Entry {
  const { text, icon } = COMMANDS[action];
  const key = `command-${action}`;
  // What stands in brackets explains, in the help.
  const label = text.replace(/ \(.*\)$/, "");
  return command({ key, label, icon, keys: formatKeysOf(action), act: () => runAction(action) });
}

/** Those that no page and no item of a menu stands for. */
const PLAIN: readonly Action[] = [
  "next-blocked",
  "next",
  "previous",
  "tabs",
  "sidebar",
  "panel",
  "zoom-in",
  "zoom-out",
  "zoom-reset",
];
const WITH_SESSION: readonly Action[] = ["prompt", "quote"];

function listCommands(): Entry[] {
  return [...PLAIN, ...(activeSession.value ? WITH_SESSION : [])].map(commandEntry);
}

const CELLS: readonly (readonly [code: string, way: string, arrow: string])[] = [
  ["ArrowLeft", "to the left", "←"],
  ["ArrowRight", "to the right", "→"],
  ["ArrowUp", "above", "↑"],
  ["ArrowDown", "below", "↓"],
];

/** Terminals side by side. */
function listLayouts(): Entry[] {
  const items = layoutItems().map((item) => {
    const key = `layout-${item.label.replace(/ terminals?$/, "")}`;
    const words = / terminals$/.test(item.label) ? WORDS["layout"] : WORDS[key];
    return command({ ...item, key, words, icon: "cells" });
  });
  const cells = CELLS.map(([code, way, arrow]) =>
    command({
      key: `cell-${code}`,
      label: `Focus the terminal ${way}`,
      words: WORDS["cell"],
      icon: "cells",
      keys: `Ctrl+Shift+${arrow}`,
      act: () => runAction("cell", code),
    }),
  );
  return gridOn.value ? [...items, ...cells] : items;
}

const THEMES: readonly (readonly [ThemeChoice, string])[] = [
  ["dark", "Dark theme"],
  ["light", "Light theme"],
  ["system", "Theme of the system"],
];

const listThemes = (): Entry[] =>
  THEMES.filter(([theme]) => theme !== prefs.value.theme).map(([theme, label]) =>
    command({
      key: `theme-${theme}`,
      label,
      words: WORDS["theme"],
      icon: "eye",
      act: () => change({ theme }),
    }),
  );

function listPages(): Entry[] {
  const create = command({
    key: "new",
    label: "New session",
    icon: "plus",
    keys: formatKeysOf("new"),
    act: () => (newSessionOpen.value = true),
  });
  const pages = availablePages().map((page) =>
    command({
      key: `page-${page.id}`,
      label: page.title,
      icon: page.icon,
      keys: page.keys,
      act: () => (openPage.value = page.id),
    }),
  );
  return [create, ...pages];
}

function startIn(workingDir: string): void {
  newSessionPlace.value = { workingDir, caseName: "" };
  newSessionOpen.value = true;
}

/** Folders of this machine in which sessions work. */
export function listFolderEntries(all: readonly Session[]): Entry[] {
  const folders = new Set(all.filter(({ remote }) => !remote).map(({ workingDir }) => workingDir));
  return [...folders].map((folder) => ({
    key: `folder-${folder}`,
    label: `New session in ${shortenPath(folder, 1)}`,
    detail: folder,
    icon: "folder",
    act: () => startIn(folder),
  }));
}

function partEntry({ id, title, icon }: PartName): Entry {
  return command({
    key: `setting-${id}`,
    label: `Settings: ${title}`,
    words: PART_WORDS[id],
    icon,
    act: () => openSettings(id),
  });
}

function settingEntry({ id, title, icon }: PartName, setting: string): Entry {
  return command({
    key: `setting-${id}-${setting}`,
    label: setting,
    detail: `Settings: ${title}`,
    words: `settings ${title} ${SETTING_WORDS[setting] ?? ""}`,
    icon,
    act: () => openSettings(id, setting),
  });
}

function openSettings(part: string, setting?: string): void {
  wantedSetting.value = { part, setting };
  openPage.value = "settings";
}

function listSettings(): Entry[] {
  const parts = PART_NAMES.filter(({ id }) => id !== "account" || canSignOut.value);
  const all = parts.flatMap((part) =>
    (SETTING_NAMES[part.id] ?? []).map((setting) => settingEntry(part, setting)),
  );
  return [...parts.map(partEntry), ...all];
}

/** Prompts that are offered, the newest first. */
export const PROMPTS_OFFERED = 100;
/** Of a prompt so much is shown and searched. */
const SHOWN_OF_PROMPT = 120;

/** A draft that stands there stays, above it. */
function takeAgain(id: string, text: string): void {
  const { draft } = getPromptState(id);
  writeDraft(id, draft.trim() === "" ? text : `${draft}\n${text}`);
  openPage.value = undefined;
  // The box may have to grow first.
  requestAnimationFrame(focusPrompt);
}

function listPrompts(): Entry[] {
  const session = activeSession.value;
  if (!session || !prefs.value.promptBox || cliOf(session.mode)?.kind !== "agent") return [];
  return sentBefore(PROMPTS_OFFERED).map((text) => ({
    key: `prompt-${text}`,
    label: truncateText(text.replace(/\s+/g, " ").trim(), SHOWN_OF_PROMPT),
    detail: "sent earlier",
    icon: "send",
    act: () => takeAgain(session.id, text),
  }));
}

/** Everything, as it is now; reads signals. */
export const listEntries = (): Entry[] => [
  ...listSessions(),
  ...listPages(),
  ...listSessionActions(),
  ...listCommands(),
  ...listLayouts(),
  ...listThemes(),
  ...listFolderEntries(sessions.value),
  ...listSettings(),
  ...listPrompts(),
];
