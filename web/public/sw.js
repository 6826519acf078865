/*
 * Keeps the shell of the page, so that the installed app opens without a network, and shows what the
 * service pushes while no page is in sight.
 *
 * Of what is fetched it answers two things alone: the page itself, from the network where there is one,
 * and the files whose names tell their content. Everything else goes past it: answers of the service
 * are never kept, and what a web tab loads is none of its business.
 */
"use strict";

/* What shares the page's rules: things that other apps share, and answers in notifications. */
importScripts("sw-parts.js");
/* Filled in by the build. */
const VERSION = "dev";
const SHELL = [];

const PREFIX = `tservice-shell ${new URL(self.registration.scope).pathname} `;
const CACHE = `${PREFIX}${VERSION}`;
const HASHED = /^assets\/[^/]+-[A-Za-z0-9_-]{8,}\.[a-z0-9.]+$/;

/** The path below the scope; undefined for another origin and for what has lost its way. */
function placeOf(address) {
  const [url, scope] = [new URL(address), new URL(self.registration.scope)];
  if (url.origin !== scope.origin || !url.pathname.startsWith(scope.pathname)) return undefined;
  return url.pathname.slice(scope.pathname.length);
}

const isPage = (request) => request.mode === "navigate" && ["", "login"].includes(placeOf(request.url));

/** A new release is met at once, for its page comes from the network; the kept one is for want of that. */
async function page(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match("login");
    if (!kept) throw error;
    return kept;
  }
}

async function file(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request.url);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.status === 200 && answer.type === "basic" && !answer.redirected)
    await cache.put(request.url, answer.clone());
  return answer;
}

function fetched(event) {
  const { request } = event;
  if (request.method !== "GET") return;
  if (isPage(request)) event.respondWith(page(request));
  else if (HASHED.test(placeOf(request.url) ?? "")) event.respondWith(file(request));
}

/** Where a browser can, it does not even ask this worker about calls of the service. */
async function bypass(event) {
  if (!event.addRoutes || !self.URLPattern) return;
  const pathname = `${new URL(self.registration.scope).pathname}api/*`;
  await event.addRoutes({ condition: { urlPattern: new URLPattern({ pathname }) }, source: "network" });
}

async function installed(event) {
  await bypass(event);
  const cache = await caches.open(CACHE);
  // Names that tell their content may come from the browser's own cache; the others are asked for.
  await cache.addAll(
    SHELL.map((path) => new Request(path, { cache: HASHED.test(path) ? "default" : "no-cache" })),
  );
  await self.skipWaiting();
}

/** Only the files of this release stay. */
async function activated() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

const TEXTS = {
  permission_prompt: "asks for permission",
  elicitation_dialog: "asks a question",
  idle_prompt: "is done",
  stop: "finished its turn",
  exit: "exited",
  error: "keeps crashing",
  limit_pause: "is paused by a usage limit",
  run_failed: "could not complete a scheduled job",
  stalled: "seems to hang",
  digest: "and others need you",
  lockout: "Too many wrong passwords. Sign-in is blocked for a while.",
};

/** What waits for an answer is opened itself; all else is its session. */
const PAGES = { permission_prompt: "approvals", elicitation_dialog: "approvals", digest: "approvals" };

/** A push that this version does not understand still has to show something. */
function read(data) {
  try {
    const { kind, sessionId, sessionName } = data.json();
    const title = String(sessionName || "tservice");
    return { title, body: TEXTS[kind] || "needs you", sessionId, page: PAGES[kind] };
  } catch {
    return { title: "tservice", body: "A session needs you" };
  }
}

const pages = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

async function pushed(event) {
  const { title, body, sessionId, page } = read(event.data);
  const open = await pages();
  if (open.some((each) => each.visibilityState === "visible")) return;
  const scope = self.registration.scope;
  const { data, ...asked } = (await self.parts.asked(sessionId)) || {};
  await self.registration.showNotification(title, {
    body,
    ...asked,
    tag: `tservice-${sessionId || "any"}`,
    icon: new URL("icons/icon-192.png", scope).href,
    data: { ...(data || { sessionId }), page },
  });
}

/* An answer that was not taken says so; a press on that leads to what was asked. */
async function refused({ title, tag, icon, data }) {
  const body = "Couldn't send the answer. Open the session to try again.";
  const { sessionId, page } = data;
  await self.registration.showNotification(title, { body, tag, icon, data: { sessionId, page } });
}

async function clicked(event) {
  const { sessionId, page: wanted } = event.notification.data || {};
  const outcome = event.action ? await self.parts.answered(event.action, event.notification.data) : "none";
  if (outcome === "taken") return;
  if (outcome === "refused") return refused(event.notification);
  const open = (await pages()).filter((page) => page.url.startsWith(self.registration.scope));
  const page = open.find((each) => each.visibilityState === "visible") || open[0];
  if (page) {
    if (sessionId) page.postMessage({ type: "open-session", sessionId, page: wanted });
    await page.focus();
    return;
  }
  const url = new URL("./", self.registration.scope);
  if (sessionId) url.searchParams.set("session", sessionId);
  if (wanted) url.searchParams.set("page", wanted);
  await self.clients.openWindow(url.href);
}

self.addEventListener("install", (event) => event.waitUntil(installed(event)));
self.addEventListener("activate", (event) => event.waitUntil(activated()));
self.addEventListener("fetch", fetched);
self.addEventListener("push", (event) => event.waitUntil(pushed(event)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clicked(event));
});
