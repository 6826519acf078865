/** Does what a pressed shortcut says. */
import { openInbox } from "../approvals/openinbox.ts";
import { inboxEnabled, sessionsNeedingPerson } from "../approvals/state.ts";
import { togglePanel } from "../../ui/pages/panel.ts";
import { CRON_PAGE, FILES_PAGE, GIT_PAGE, openPage, REVIEW_PAGE } from "../../ui/pages/registry.ts";
import { toggleFleet } from "../fleet/page.ts";
import type { Count, Direction } from "../grid/layout.ts";
import { closeCell, setCount } from "../grid/menu.ts";
import { moveFocus, gridOn, toggleZoom } from "../grid/state.ts";
import { togglePromptFocus } from "../prompt/focus.ts";
import { close, selectNext } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { writeName } from "../sessions/naming.ts";
import { newSessionOpen, historyOpen, paletteOpen, searchOpen } from "../../ui/pages/openpanels.ts";
import { focusTabs } from "../sessions/Tabs.tsx";
import { zoomFont } from "../../store/prefs.ts";
import { seenSessions, toggleSidebar } from "../sidebar/state.ts";
import { activeId, activeSession } from "../../store/state.ts";
import { currentView, focusActiveTerminal } from "../terminal/current.ts";
import { platformOf } from "../terminal/text/keys.ts";
import { showToast } from "../../store/toasts.ts";
import { type Action, actionFor, digitOf } from "./table.ts";

/** @param code of the pressed key, where several keys mean alike. */
type Deed = (code: string) => void;

function withActive(act: (id: string) => void): void {
  if (activeId.value !== undefined) act(activeId.value);
}

/** Unlike walking along the tabs, this is for typing there. */
function goTo(id: string): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.closest("[role=tablist]")) focused.blur();
  if (activeId.value === id) focusActiveTerminal();
  else select(id);
}

/** Agents are answered in the order in which they asked; around the end. */
function goToNextBlocked(): void {
  const blocked = [...sessionsNeedingPerson.peek()];
  const id = blocked[(blocked.indexOf(activeId.peek() ?? "") + 1) % blocked.length];
  if (id === undefined) return void showToast("info", "No agent needs you");
  openPage.value = undefined;
  goTo(id);
}

const WAYS: Partial<Record<string, Direction>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

/** Without several cells these keys are the program's, and elsewhere they move tabs and select text. */
function isFree(action: Action, inTerminal: boolean): boolean {
  if (action === "quote") return inTerminal;
  if (action === "cell") return gridOn.peek() && (inTerminal || document.activeElement === document.body);
  return gridOn.peek() || !action.endsWith("-cell");
}

/** What is done to the terminals, which a page may cover. */
const UNDER: ReadonlySet<Action> = new Set([
  "goto",
  "search",
  "history",
  "prompt",
  "cells",
  "cell",
  "maximise-cell",
  "close-cell",
]);

const DEEDS: Readonly<Record<Action, Deed>> = {
  new: () => (newSessionOpen.value = true),
  "next-blocked": goToNextBlocked,
  previous: () => selectNext(-1),
  next: () => selectNext(1),
  close: () => withActive((id) => void close(id)),
  rename: () => activeSession.value && void writeName(activeSession.value),
  search: () => withActive(() => (searchOpen.value = true)),
  history: () => withActive((sessionId) => (historyOpen.value = { sessionId, query: "" })),
  approvals: () => inboxEnabled.value && openInbox(),
  cron: () => (openPage.value = CRON_PAGE),
  changes: () => withActive(() => (openPage.value = GIT_PAGE)),
  review: () => withActive(() => (openPage.value = REVIEW_PAGE)),
  prompt: togglePromptFocus,
  settings: () => (openPage.value = "settings"),
  help: () => (openPage.value = "help"),
  tabs: focusTabs,
  palette: () => (paletteOpen.value = !paletteOpen.value),
  fleet: toggleFleet,
  sidebar: toggleSidebar,
  panel: () => togglePanel(FILES_PAGE),
  quote: () => {
    quoting = true;
    showToast("info", "Press the key to send to the program");
  },
  "zoom-in": () => zoomFont(1),
  "zoom-out": () => zoomFont(-1),
  "zoom-reset": () => zoomFont(0),
  cells: (code) => setCount(Number(code.slice(-1)) as Count),
  cell: (code) => moveFocus(WAYS[code] ?? "right"),
  "maximise-cell": toggleZoom,
  "close-cell": () => closeCell(),
  goto: (code) => {
    const session = seenSessions.value[digitOf(code)];
    if (session) goTo(session.id);
  },
};

function isField(element: Element | null): boolean {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  );
}

/** The next key is sent to the program, whatever it is here. */
let quoting = false;

function pressed(event: KeyboardEvent): void {
  const focused = document.activeElement;
  const inTerminal = focused?.closest(".terminal-host") != null;
  if (quoting && !/^(?:Alt|AltGraph|Control|Meta|Shift)$/.test(event.key)) {
    quoting = false;
    if (inTerminal && currentView.peek()?.keyboard.pressed(event, true) === false) return;
  }
  const mac = platformOf(navigator.userAgent) === "mac";
  const action = actionFor(event, mac, inTerminal, isField(focused) && !inTerminal);
  const modal = document.querySelector("dialog:modal") !== null;
  if (!action || !isFree(action, inTerminal) || (modal && !action.startsWith("zoom"))) return;
  event.preventDefault();
  event.stopPropagation();
  runAction(action, event.code);
}

/** Do what a shortcut says, for its key and for the palette. */
export function runAction(action: Action, code = ""): void {
  if (UNDER.has(action)) openPage.value = undefined;
  DEEDS[action](code);
}

/** The numbers of the sessions show while Alt alone is held. */
function showNumbers({ key, type, ctrlKey, shiftKey, metaKey }: KeyboardEvent): void {
  const alone = type === "keydown" && key === "Alt" && !ctrlKey && !shiftKey && !metaKey;
  if (alone) document.documentElement.dataset["alt"] = "";
  else hideNumbers();
}

function hideNumbers(): void {
  delete document.documentElement.dataset["alt"];
}

export function listenForShortcuts(): void {
  addEventListener("keydown", showNumbers, { capture: true });
  addEventListener("keydown", pressed, { capture: true });
  addEventListener("keyup", showNumbers, { capture: true });
  // Alt+Tab: the key is released elsewhere.
  addEventListener("blur", hideNumbers);
}
