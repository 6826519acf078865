/** Does what a pressed shortcut says. */
import { openPage } from "../app/registry.ts";
import { close, select, selectNext } from "../sessions/actions.ts";
import { askName } from "../sessions/menu.ts";
import { newSessionOpen } from "../sessions/newsession.ts";
import { focusTabs } from "../sessions/Tabs.tsx";
import { zoomFont } from "../settings/prefs.ts";
import { activeId, activeSession, sessions } from "../store/state.ts";
import { historyOpen, searchOpen } from "../terminal/current.ts";
import { platformOf } from "../terminal/keys.ts";
import { type Action, actionFor, digitOf } from "./table.ts";

type Deeds = Partial<Record<Action, (event: KeyboardEvent) => void>>;

function withActive(act: (id: string) => void): void {
  if (activeId.value !== undefined) act(activeId.value);
}

const DEEDS: Deeds = {
  new: () => (newSessionOpen.value = true),
  previous: () => selectNext(-1),
  next: () => selectNext(1),
  close: () => withActive((id) => void close(id)),
  rename: () => activeSession.value && void askName(activeSession.value),
  search: () => withActive(() => (searchOpen.value = true)),
  history: () => withActive((sessionId) => (historyOpen.value = { sessionId, query: "" })),
  settings: () => (openPage.value = "settings"),
  help: () => (openPage.value = "help"),
  tabs: focusTabs,
  "zoom-in": () => zoomFont(1),
  "zoom-out": () => zoomFont(-1),
  "zoom-reset": () => zoomFont(0),
  goto: (event) => {
    const session = sessions.value[digitOf(event.code)];
    if (session) select(session.id);
  },
};

function isField(element: Element | null): boolean {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  );
}

function pressed(event: KeyboardEvent): void {
  const focused = document.activeElement;
  const inTerminal = focused?.closest(".terminal-host") != null;
  const mac = platformOf(navigator.userAgent) === "mac";
  const shortcut = actionFor(event, mac, inTerminal, isField(focused) && !inTerminal);
  const deed = shortcut && DEEDS[shortcut.action];
  const modal = document.querySelector("dialog[open]") !== null;
  if (!deed || (modal && !shortcut.action.startsWith("zoom"))) return;
  event.preventDefault();
  event.stopPropagation();
  deed(event);
}

export function listenForShortcuts(): void {
  addEventListener("keydown", pressed, { capture: true });
}
