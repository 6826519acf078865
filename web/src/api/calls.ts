/** The service's operations that this page uses, one function each. */
import { request } from "./client.ts";
import { sessionPath } from "./paths.ts";
import type {
  ContextQuestion,
  SwapQuestion,
  CliItem,
  SessionColourResponse,
  DeletedSessionResponse,
  CreateBody,
  FolderTrust,
  SessionNameResponse,
  SessionEnvelope,
  SessionOrderResponse,
  SessionPinResponse,
  TerminalSearchResponse,
  Session,
  Settings,
  SettingsPatch,
  TerminalResponse,
} from "./types.ts";

/** @param person absent: whoever the browser itself has a password of. */
export const signIn = (person?: { username: string; password: string }) =>
  request<unknown>("POST", "api/login", { ...(person && { body: person }), anonymous: true });

export const signOut = () => request<unknown>("POST", "api/logout");

export const listClis = () => request<CliItem[]>("GET", "api/clis");

export const readSettings = () => request<Settings>("GET", "api/settings");

export const writeSettings = (changes: SettingsPatch) =>
  request<Settings>("PUT", "api/settings", { body: changes });

export const readSession = (id: string) => request<Session>("GET", sessionPath(id));

/** @param place the query: fields of the session (protocol-folders). */
export const readFolderTrust = (place: string, signal: AbortSignal) =>
  request<FolderTrust>("GET", `api/folder-trust?${place}`, { signal });

/** With a custom model the service may have a question first, and makes nothing. */
export const createSession = (body: CreateBody) =>
  request<SessionEnvelope | ContextQuestion | SwapQuestion>("POST", "api/sessions", { body });

export const startSession = (id: string, clearBreaker: boolean) =>
  request<SessionEnvelope>("POST", sessionPath(id, "/start"), {
    body: clearBreaker ? { clearBreaker: true } : {},
  });

/** @param killMux false leaves the pane running without this service (protocol-delete). */
export const removeSession = (id: string, killMux: boolean) =>
  request<DeletedSessionResponse>("DELETE", sessionPath(id, `?killMux=${killMux}`));

export const renameSession = (id: string, name: string) =>
  request<SessionNameResponse>("PUT", sessionPath(id, "/name"), { body: { name } });

export const colorSession = (id: string, color: Session["color"]) =>
  request<SessionColourResponse>("PUT", sessionPath(id, "/color"), { body: { color } });

export const pinSession = (id: string, pinned: boolean) =>
  request<SessionPinResponse>("PUT", sessionPath(id, "/pin"), { body: { pinned } });

export const orderSessions = (order: string[]) =>
  request<SessionOrderResponse>("PUT", "api/session-order", { body: { order } });

export const readScreen = (id: string) => request<TerminalResponse>("GET", sessionPath(id, "/terminal"));

export const readHistory = (id: string, lines: number, signal: AbortSignal) =>
  request<TerminalResponse>("GET", sessionPath(id, `/terminal?full=1&lines=${lines}`), { signal });

export function searchHistory(
  id: string,
  query: string,
  nocase: boolean,
  signal: AbortSignal,
): Promise<TerminalSearchResponse> {
  const params = new URLSearchParams({ q: query, limit: "200" });
  if (nocase) params.set("nocase", "1");
  return request<TerminalSearchResponse>("GET", sessionPath(id, `/search?${params.toString()}`), { signal });
}
