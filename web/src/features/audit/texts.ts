/** Entries of the log in words. */
import { SUMMARIES } from "../../api/summaries.ts";
import type { AuditEntryResponse } from "../../api/types.ts";
import { table } from "../../lib/table.ts";

/** What each operation does, as its summary says. */
const OPERATIONS = table({ ...SUMMARIES });

/** What is no operation, and what an operation's summary says in too many words. */
const WORDS: Record<string, string> = table({
  login: "signed in",
  "login.failed": "failed to sign in",
  "login.locked": "reached the limit of failed sign-ins",
  input: "typed",
  "audit.broken": "the log was changed from outside",
  "DELETE /api/sessions/{id}": "closed a session",
  "POST /api/sessions/{id}/input": "typed",
  "POST /api/sessions/{id}/start": "started a session",
  "POST /api/mcp-sync": "synced MCP servers",
});

const PAST: Record<string, string> = table({
  bring: "brought",
  commit: "committed",
  get: "got",
  give: "gave",
  pin: "pinned",
  put: "put",
  run: "ran",
  send: "sent",
  set: "set",
  stop: "stopped",
  unpin: "unpinned",
});

function toPast(verb: string): string {
  const word = verb.toLowerCase();
  return (
    PAST[word] ??
    (word.endsWith("e") ? `${word}d` : word.endsWith("y") ? `${word.slice(0, -1)}ied` : `${word}ed`)
  );
}

/** "Enable or disable a CLI" as what somebody did: "enabled or disabled a CLI". */
export function tellSummary(summary: string): string {
  const [clause = ""] = summary.split(/[;.,]/);
  return clause
    .replace(/^(\w+)(?:( or )(\w+))?/, (_, verb: string, or = "", other = "") =>
      [toPast(verb), or, other && toPast(other)].join(""),
    )
    .replace(/\byours?\b/g, "their");
}

export function describeAction(action: string): string {
  const summary = OPERATIONS[action];
  return WORDS[action] ?? (summary ? tellSummary(summary) : action);
}

export const isWorded = (action: string): boolean => action in WORDS || action in OPERATIONS;

export function describeActor(entry: AuditEntryResponse): string {
  if (entry.actor !== "") return entry.actor;
  return entry.action.startsWith("audit.") ? "the server" : "somebody";
}

export type Mark = "bad" | "warn" | "plain";

export function markOf(entry: AuditEntryResponse): Mark {
  if (entry.action === "audit.broken") return "bad";
  return entry.action.startsWith("login.") || "error" in entry.detail ? "warn" : "plain";
}

const show = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
};

const METHODS: Record<string, string> = table({
  cookie: "browser",
  login: "with a password",
  basic: "with a password, from a script",
  qr: "with a QR code",
  token: "token",
});

/** How the actor was known; empty where nobody was. */
export const describeMethod = (method: string): string =>
  method === "none" ? "" : (METHODS[method] ?? method);

const ID = /^[0-9a-f-]{16,}$/;
const SHORT = 8;

/**
 * What it was done to, as people know it.
 * @param nameOf a session's name; undefined for what is no session, or is gone.
 */
export function describeTarget(
  entry: AuditEntryResponse,
  nameOf: (id: string) => string | undefined,
): string {
  // The session that a sign-in opened has no name to anybody.
  if (entry.action === "login") return "";
  const { target } = entry;
  return nameOf(target) ?? (ID.test(target) ? `${target.slice(0, SHORT)}…` : target);
}

const FIELDS: Record<string, string> = table({
  can_bypass_permissions: "can run anything",
  os_user: "OS user",
  working_dir: "folder",
});

const TRIED: Record<string, string> = table({ basic: "password", hook: "hook secret", qr: "code" });

const fieldText = (name: string): string => FIELDS[name] ?? name.replaceAll("_", " ");

/** One entry has whether it was over the limit, a sum of them how many were. */
function lockedText(value: unknown): string {
  if (value === true) return "locked out after too many attempts";
  return typeof value === "number" && value > 0 ? `${value} while locked out` : "";
}

/** How an input came. */
const SOURCES: Record<string, string> = table({ http: "", websocket: "in a terminal" });

/** Details that read better without their names; empty: nothing worth a word. */
const DETAILS: Record<string, (value: unknown) => string> = table({
  fields: (value) => `set: ${[value].flat().map(String).map(fieldText).join(", ")}`,
  bucket: (value) => `wrong ${TRIED[String(value)] ?? show(value)}`,
  length: (value) => `${Number(value).toLocaleString()} characters`,
  locked: lockedText,
  source: (value) => SOURCES[String(value)] ?? `by ${show(value)}`,
  times: (value) => (Number(value) === 1 ? "once" : `${show(value)} times`),
  username: (value) => `as ${show(value)}`,
});

/** What else the entry says: `error: LAST_ADMIN`, `set: role`. */
export function describeDetails(entry: AuditEntryResponse): string[] {
  return Object.entries(entry.detail)
    .filter(([, value]) => value !== null && show(value) !== "")
    .map(([name, value]) => DETAILS[name]?.(value) ?? `${name}: ${show(value)}`)
    .filter((text) => text !== "");
}
