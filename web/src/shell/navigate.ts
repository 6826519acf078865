/** Keeps the address, the title and the state in step. */
import { effect } from "@preact/signals";
import { APPROVALS_PAGE, openInboxAt } from "../features/approvals/openinbox.ts";
import { sessionsNeedingPerson } from "../features/approvals/state.ts";
import { signedOut } from "../features/auth/state.ts";
import { startsOnFleet } from "../features/fleet/startpage.ts";
import { FLEET_PAGE } from "../features/fleet/page.ts";
import { prefs } from "../store/prefs.ts";
import {
  activeId,
  activeSession,
  clearAttention,
  isViewed,
  sessionList,
  sessions,
  settings,
} from "../store/state.ts";
import { hasReceivedInit } from "../api/stream/connection.ts";
import { openPage } from "../ui/pages/registry.ts";
import { readRoute, titleOf, writeRoute } from "../ui/pages/route.ts";

/** A newly chosen session is a step in the history; the first one is where the page began. */
let settled = false;

/** The page began at an address that names neither a session nor a page. */
let bare = false;

function readAddress(): void {
  const route = readRoute(new URL(location.href));
  if (route.session !== undefined) activeId.value = route.session;
  openPage.value = route.page;
}

function writeAddress(): void {
  const session = activeId.value;
  const page = openPage.value;
  if (signedOut.value || !hasReceivedInit.value) return;
  const now = readRoute(new URL(location.href));
  if (now.session === session && now.page === page && !now.login) return;
  const address = writeRoute({ login: false, ...(session && { session }), ...(page && { page }) });
  if (settled && now.session !== session) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  settled = true;
}

/** Once it is known how many sessions there are. */
function beginAtHome(): void {
  if (!bare || !hasReceivedInit.value) return;
  bare = false;
  if (startsOnFleet(prefs.peek().home, sessions.peek().length)) openPage.value = FLEET_PAGE;
}

/** An address of a session that is gone leads to the first one. */
function chooseFirst(): void {
  if (!hasReceivedInit.value) return;
  const id = activeId.value;
  if (id === undefined || !sessionList.value.byId.has(id)) activeId.value = sessions.value[0]?.id;
}

function watchAttention(): void {
  const id = activeId.value;
  if (id !== undefined && sessionList.value.attention.has(id) && isViewed(id)) clearAttention(id);
}

export function startNavigation(): void {
  readAddress();
  // As a notification opens it: the card of that session, and no other.
  const session = activeId.peek();
  if (openPage.peek() === APPROVALS_PAGE && session !== undefined) openInboxAt(session);
  bare = activeId.peek() === undefined && openPage.peek() === undefined;
  addEventListener("popstate", readAddress);
  effect(beginAtHome);
  effect(chooseFirst);
  effect(writeAddress);
  effect(watchAttention);
  document.addEventListener("visibilitychange", watchAttention);
  effect(() => {
    const name = String(settings.value.displayName ?? "");
    document.title = titleOf(activeSession.value, sessionsNeedingPerson.value.size, name);
  });
}
