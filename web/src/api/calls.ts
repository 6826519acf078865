/** Operations that several features use. */
import { api, request } from "./client.ts";
import type { CreateBody, FolderTrust, Session, SettingsPatch } from "./types.ts";

/** @param person absent: whoever the browser itself has a password of. */
export const signIn = (person?: { username: string; password: string }) =>
  api.post("/api/login", { ...(person && { body: person }), anonymous: true });

export const signOut = () => api.post("/api/logout");

/** Without the folders that were searched, which are most of the list and shown on one page. */
export const listClis = () => api.get("/api/clis", { query: { lookedIn: false } });

export const readSettings = () => api.get("/api/settings");

export const writeSettings = (body: SettingsPatch) => api.put("/api/settings", { body });

const ID = "/api/sessions/{id}";

export const readSession = (id: string) => api.get(ID, { path: { id } });

/** @param place the query: fields of the session (protocol-folders). */
export const readFolderTrust = (place: string, signal: AbortSignal) =>
  request<FolderTrust>("GET", `api/folder-trust?${place}`, { signal });

/** With a custom model the service may have a question first, and makes nothing. */
export const createSession = (body: CreateBody) => api.post("/api/sessions", { body });

export const startSession = (id: string, clearBreaker: boolean) =>
  api.post(`${ID}/start`, { path: { id }, body: clearBreaker ? { clearBreaker } : {} });

/** @param killMux false leaves the pane running without this service (protocol-delete). */
export const removeSession = (id: string, killMux: boolean) =>
  api.delete(ID, { path: { id }, query: { killMux } });

export const renameSession = (id: string, name: string) =>
  api.put(`${ID}/name`, { path: { id }, body: { name } });

export const colorSession = (id: string, color: Session["color"]) =>
  api.put(`${ID}/color`, { path: { id }, body: { color } });

export const pinSession = (id: string, pinned: boolean) =>
  api.put(`${ID}/pin`, { path: { id }, body: { pinned } });

export type SnoozeChoice = "30m" | "tomorrow" | "asks";

/** @param until undefined ends the pause. */
export const snoozeSession = (id: string, until: SnoozeChoice | undefined) =>
  api.post(`${ID}/snooze`, {
    path: { id },
    body: { until: until ?? null, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  });

export const orderSessions = (order: string[]) => api.put("/api/session-order", { body: { order } });

export const readScreen = (id: string) => api.get(`${ID}/terminal`, { path: { id } });

export const readHistory = (id: string, lines: number, signal: AbortSignal) =>
  api.get(`${ID}/terminal`, { path: { id }, query: { full: true, lines: String(lines) }, signal });

export const searchHistory = (id: string, q: string, nocase: boolean, signal: AbortSignal) =>
  api.get(`${ID}/search`, { path: { id }, query: { q, limit: 200, nocase }, signal });
