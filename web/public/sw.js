/* Shows what the service pushes while no page is in sight, and leads to the session. */
"use strict";

/* What shares the page's rules: things that other apps share, and answers in notifications. */
importScripts("sw-parts.js");

const TEXTS = {
  permission_prompt: "asks for permission",
  elicitation_dialog: "asks a question",
  idle_prompt: "is ready for you",
  stop: "has finished its turn",
  exit: "has ended",
  error: "keeps failing",
};

/** A push that this version does not understand still has to show something. */
function read(data) {
  try {
    const { kind, sessionId, sessionName } = data.json();
    return { title: String(sessionName || "tservice"), body: TEXTS[kind] || "needs you", sessionId };
  } catch {
    return { title: "tservice", body: "A session needs you" };
  }
}

const pages = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

async function pushed(event) {
  const { title, body, sessionId } = read(event.data);
  const open = await pages();
  if (open.some((page) => page.visibilityState === "visible")) return;
  const scope = self.registration.scope;
  const { data, ...asked } = (await self.parts.asked(sessionId)) || {};
  await self.registration.showNotification(title, {
    body,
    ...asked,
    tag: `tservice-${sessionId || "any"}`,
    icon: new URL("icons/icon-192.png", scope).href,
    data: data || { sessionId },
  });
}

/* An answer that was not taken says so; a press on that leads to the session. */
async function refused({ title, tag, icon, data }) {
  const body = "Not answered: look at it again";
  await self.registration.showNotification(title, { body, tag, icon, data: { sessionId: data.sessionId } });
}

async function clicked(event) {
  const { sessionId } = event.notification.data || {};
  const outcome = event.action ? await self.parts.answered(event.action, event.notification.data) : "none";
  if (outcome === "taken") return;
  if (outcome === "refused") return refused(event.notification);
  const open = (await pages()).filter((page) => page.url.startsWith(self.registration.scope));
  const page = open.find((each) => each.visibilityState === "visible") || open[0];
  if (page) {
    if (sessionId) page.postMessage({ type: "open-session", sessionId });
    await page.focus();
    return;
  }
  const url = new URL("./", self.registration.scope);
  if (sessionId) url.searchParams.set("session", sessionId);
  await self.clients.openWindow(url.href);
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(pushed(event)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clicked(event));
});
