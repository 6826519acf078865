/** Remote hosts in words, and what their form sends. */
import type {
  HostCheckResponse,
  RemoteHost,
  RemoteHostBody,
  TmuxSession,
  WakeResponse,
} from "../../api/types.ts";
import { plural } from "../../lib/format.ts";

export interface Draft {
  label: string;
  host: string;
  username: string;
  port: string;
  identityFile: string;
  jumpHost: string;
  /** One a line. */
  extraSshOptions: string;
  /** By mode; empty: the CLI's usual program. */
  commands: Readonly<Record<string, string>>;
  wakeMac: string;
  wakeCommand: string;
}

export const EMPTY: Draft = {
  label: "",
  host: "",
  username: "",
  port: "22",
  identityFile: "",
  jumpHost: "",
  extraSshOptions: "",
  commands: {},
  wakeMac: "",
  wakeCommand: "",
};

export const draftOf = (host: RemoteHost): Draft => ({
  ...EMPTY,
  label: host.label,
  host: host.host,
  username: host.username,
  port: String(host.port),
  identityFile: host.identityFile ?? "",
  jumpHost: host.jumpHost ?? "",
  extraSshOptions: host.extraSshOptions.join("\n"),
  commands: host.commands,
  wakeMac: host.wakeMac ?? "",
  wakeCommand: host.wakeCommand ?? "",
});

export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Empty fields are left out; the service replaces all of a host but its id. */
export function bodyOf(draft: Draft): RemoteHostBody {
  const { label, host, username, port, extraSshOptions, commands, ...others } = draft;
  const told = Object.entries(others).flatMap(([name, text]) => (text.trim() ? [[name, text.trim()]] : []));
  const own = Object.entries(commands).flatMap(([mode, text]) => (text.trim() ? [[mode, text.trim()]] : []));
  return {
    label: label.trim(),
    host: host.trim(),
    username: username.trim(),
    port: Number(port),
    extraSshOptions: linesOf(extraSshOptions),
    commands: Object.fromEntries(own) as Record<string, string>,
    ...(Object.fromEntries(told) as Partial<RemoteHostBody>),
  };
}

export type Wrong = Readonly<Partial<Record<string, string>>>;

/** What is to be mended before the draft is sent, by field; the service's own rules come behind. */
export function validateDraft({ label, host, username, port }: Draft): Wrong {
  return {
    ...(label.trim() === "" && { label: "Enter a name." }),
    ...(host.trim() === "" && { host: "Enter a host name or an address." }),
    ...(username.trim() === "" && { username: "Enter the user name on the host." }),
    ...(!(/^[0-9]{1,5}$/.test(port.trim()) && Number(port) >= 1 && Number(port) <= 65535) && {
      port: "Enter a port from 1 to 65535.",
    }),
  };
}

export const formatAddress = ({ username, host, port }: RemoteHost): string =>
  `${username}@${host.includes(":") ? `[${host}]` : host}${port === 22 ? "" : `:${port}`}`;

/** How it is woken; undefined where nothing is configured. */
export function describeWakeMethod({ wakeCommand, wakeMac }: RemoteHost): string | undefined {
  if (wakeCommand) return `wakes with ${wakeCommand}`;
  return wakeMac ? `wakes with wake-on-LAN (${wakeMac})` : undefined;
}

export type Tone = "accent" | "warn" | "bad" | "plain";

export interface State {
  word: string;
  tone: Tone;
}

const AWAY = "unreachable";
const UNKNOWN = "not checked";

/** @param away whether a session there has told that it is out of reach; undefined: none is there. */
export function getHostState(found: HostCheckResponse | undefined, away: boolean | undefined): State {
  if (found?.hostKey === "changed") return { word: "key changed", tone: "bad" };
  if (found?.hostKey === "unknown") return { word: "key not trusted", tone: "warn" };
  if (found && !found.ok) return { word: found.hostKey ? "not usable" : AWAY, tone: "warn" };
  if (away === true) return { word: AWAY, tone: "warn" };
  if (found?.ok || away === false) return { word: "reachable", tone: "accent" };
  return { word: UNKNOWN, tone: "plain" };
}

/** Whether it may be asleep: one that shows a key is not. */
export const canWake = (host: RemoteHost, { word }: State): boolean =>
  describeWakeMethod(host) !== undefined && (word === AWAY || word === UNKNOWN);

export function describeWakeResult({ woke, reachable, error }: WakeResponse): string {
  if (reachable) return "The host is awake.";
  const why = error === undefined ? "" : `: ${error}`;
  return woke
    ? `Sent the wake-up call, but the host is still unreachable${why}.`
    : `Couldn't send the wake-up call${why}.`;
}

/** `12 ms round trip, tmux 3.5a`; nothing where neither was told. */
export function formatCheckFigures({ latencyMs, tmux }: HostCheckResponse): string {
  const parts = [];
  if (latencyMs !== undefined) parts.push(`${latencyMs} ms round trip`);
  if (tmux !== undefined) parts.push(`tmux ${tmux}`);
  return parts.join(", ");
}

/** The end of a fingerprint that has to be typed before a changed key is trusted. */
export const TYPED = 8;

export const getFingerprintEnding = (fingerprint: string): string => fingerprint.slice(-TYPED);

export function describeTmuxSession({ attached, windows, cols, rows }: TmuxSession): string {
  const looking = attached === 0 ? "no clients" : plural(attached, "client");
  return [looking, plural(windows, "window"), `${cols}×${rows}`].join(" · ");
}

/** An error of the service, with what to do about it. */
export function addAdvice(text: string): string {
  if (/ uses this host$/.test(text))
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}. Close its sessions and remove its workspaces first. The folders on the host are not changed.`;
  return text;
}
