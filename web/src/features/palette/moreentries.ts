/** What the palette finds beside sessions and pages: workspaces, parts of the settings, prompts sent before. */
import type { Session } from "../../api/types.ts";
import { canSignOut } from "../auth/state.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { truncateText, shortenPath } from "../../lib/format.ts";
import { focusPrompt } from "../prompt/focus.ts";
import { getPromptState, sentBefore, writeDraft } from "../prompt/state.ts";
import { PART_NAMES, wantedPart } from "../settings/parts.ts";
import { prefs } from "../../store/prefs.ts";
import { newSessionPlace } from "../sessions/newsession.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { activeSession, cliOf, sessions } from "../../store/state.ts";
import type { Entry } from "./model.ts";

/** Prompts that are offered, the newest first. */
export const PROMPTS_OFFERED = 100;
/** Of a prompt so much is shown and searched. */
const SHOWN_OF_PROMPT = 120;

function startIn(workingDir: string): void {
  newSessionPlace.value = { workingDir, caseName: "" };
  newSessionOpen.value = true;
}

/** Folders of this machine in which sessions work. */
export function listFolderEntries(all: readonly Session[]): Entry[] {
  const folders = new Set(all.filter(({ remote }) => !remote).map(({ workingDir }) => workingDir));
  return [...folders].map((folder) => ({
    key: `folder-${folder}`,
    group: "Go to",
    label: `New session in ${shortenPath(folder, 1)}`,
    detail: folder,
    icon: "folder",
    act: () => startIn(folder),
  }));
}

function settings(): Entry[] {
  return PART_NAMES.filter(({ id }) => id !== "account" || canSignOut.value).map(({ id, title, icon }) => ({
    key: `settings-${id}`,
    group: "Go to",
    label: `Settings: ${title}`,
    icon,
    act: () => {
      wantedPart.value = id;
      openPage.value = "settings";
    },
  }));
}

/** A draft that stands there stays, above it. */
function takeAgain(id: string, text: string): void {
  const { draft } = getPromptState(id);
  writeDraft(id, draft.trim() === "" ? text : `${draft}\n${text}`);
  openPage.value = undefined;
  // The box may have to grow first.
  requestAnimationFrame(focusPrompt);
}

function prompts(): Entry[] {
  const session = activeSession.value;
  if (!session || !prefs.value.promptBox || cliOf(session.mode)?.kind !== "agent") return [];
  return sentBefore(PROMPTS_OFFERED).map((text) => ({
    key: `prompt-${text}`,
    group: "This session",
    label: truncateText(text.replace(/\s+/g, " ").trim(), SHOWN_OF_PROMPT),
    detail: "sent earlier",
    icon: "send",
    act: () => takeAgain(session.id, text),
  }));
}

/** Reads signals. */
export const listMoreEntries = (): Entry[] => [
  ...listFolderEntries(sessions.value),
  ...settings(),
  ...prompts(),
];
