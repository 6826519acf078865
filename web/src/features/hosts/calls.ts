/** The routes of remote hosts (protocol-remote, protocol-wake). */
import { request } from "../../api/client.ts";
import { sessionPath } from "../../api/paths.ts";
import { truncateText } from "../../lib/format.ts";
import type {
  HostCheckResponse,
  EmptyPayload,
  RemoteHostEnvelope,
  SessionEnvelope,
  HostReachability,
  RemoteHost,
  RemoteHostBody,
  TmuxSessions,
  WakeResponse,
} from "../../api/types.ts";

const PATH = "api/remote-hosts";
const of = (id: string, rest = "") => `${PATH}/${encodeURIComponent(id)}${rest}`;

/** Characters of a session's name. */
const NAME_MAX = 128;

/** None for anybody but an admin. */
export const readHosts = () => request<RemoteHost[]>("GET", PATH);

export const addHost = (body: RemoteHostBody) => request<RemoteHostEnvelope>("POST", PATH, { body });

export const changeHost = (id: string, body: RemoteHostBody) =>
  request<RemoteHostEnvelope>("PUT", of(id), { body });

export const removeHost = (id: string) => request<EmptyPayload>("DELETE", of(id));

/** Connects; within 30 s. */
export const checkHost = (id: string) => request<HostCheckResponse>("POST", of(id, "/check"));

/** Answers once it is reached or given up; up to 40 s. */
export const wakeHost = (id: string) => request<WakeResponse>("POST", of(id, "/wake"));

export const trustKey = (id: string, fingerprint: string) =>
  request<EmptyPayload>("POST", of(id, "/trust"), { body: { fingerprint } });

export const listTmuxSessions = (id: string) => request<TmuxSessions>("GET", of(id, "/sessions"));

export const attachTmuxSession = (hostId: string, remoteSessionName: string) =>
  request<SessionEnvelope>("POST", "api/sessions", {
    body: {
      attachRemoteSession: { hostId, remoteSessionName },
      name: truncateText(remoteSessionName, NAME_MAX),
      start: true,
    },
  });

export const readReachability = (sessionId: string) =>
  request<HostReachability>("GET", sessionPath(sessionId, "/reachability"));

export const wake = (sessionId: string) => request<WakeResponse>("POST", sessionPath(sessionId, "/wake"));
