/** What went wrong with a request, in words for the person at the screen. */
import { table } from "../lib/table.ts";
import type { ErrorCode } from "./types.ts";

/** `UNREACHABLE` is the page's own; empty for an answer of something else, such as a proxy. */
export type FailureCode = ErrorCode | "UNREACHABLE" | "";

export class ApiError extends Error {
  readonly status: number;
  readonly code: FailureCode;
  /** Seconds the server asked to wait, where it said so. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: FailureCode, message: string, retryAfter?: number) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The server's own text stays: it names the field and the rule. Only bare statuses get words. */
const BARE_STATUS: Record<number, string> = {
  401: "Please sign in.",
  403: "The server refused this request.",
  404: "Not found.",
  409: "That isn't possible right now.",
  413: "That is too large.",
  422: "The server couldn't do that.",
  429: "Too many requests.",
  502: "The proxy can't reach the server.",
  503: "The server is busy or restarting. Try again in a moment.",
};

/** The longest text shown from an answer that is no envelope, e.g. a proxy's page. */
const PLAIN_TEXT_LIMIT = 300;

function formatWait(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

/** @param text an answer's bare text: guard answers are no envelopes (protocol-errors). */
export function createStatusError(status: number, text: string, retryAfter?: number): ApiError {
  const plain = text.trim();
  const usable = plain !== "" && plain.length <= PLAIN_TEXT_LIMIT && !plain.startsWith("<");
  let message = usable ? plain : (BARE_STATUS[status] ?? `The server replied with status ${status}.`);
  if (status === 429) {
    message = "Too many attempts.";
    if (retryAfter !== undefined) message += ` Try again in ${formatWait(retryAfter)}.`;
  }
  const code = status === 401 ? "UNAUTHORIZED" : status === 429 ? "RATE_LIMITED" : "";
  return new ApiError(status, code, message, retryAfter);
}

export function createUnreachableError(): ApiError {
  return new ApiError(0, "UNREACHABLE", "Can't reach the server.");
}

export function getErrorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Fields whose names on the wire are not what the page calls them. */
const FIELDS: Record<string, string> = table({
  workingDir: "Folder",
  mode: "Agent",
  sessionName: "Name",
  caseName: "Workspace",
  envOverrides: "Environment",
  waitTimeout: "Time",
});

/** A part of the page that was not loaded, in the words of the browsers and of the bundler. */
const NOT_LOADED = /preload CSS|dynamically imported module|module script/i;
const FIELD = /^([a-z][A-Za-z]*)([.[][^:]*)?: (.+)$/s;

export const toTitle = (name: string): string => {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** @returns the field that an error names, what of it (`.memory`), and the rule that it breaks. */
export function parseFieldError(error: unknown): { field: string; part: string; rule: string } | undefined {
  const [, field, part = "", rule] = FIELD.exec(getErrorText(error)) ?? [];
  return field === undefined || rule === undefined ? undefined : { field, part, rule };
}

/** What went wrong as a sentence: a field under the name that the page has for it. */
export function formatError(error: unknown): string {
  const text = getErrorText(error);
  if (NOT_LOADED.test(text))
    return "Couldn't load this part of the page. Check your connection, or reload the page.";
  const found = parseFieldError(error);
  return found === undefined ? text : `${FIELDS[found.field] ?? toTitle(found.field)}: ${found.rule}`;
}

/** Texts of the codes that an input acknowledgement may carry in `err` (protocol-websocket). */
const INPUT_ERRORS: Record<string, string> = table({
  PAYLOAD_TOO_LARGE: "The input was too large. Nothing was typed.",
  CONFLICT: "No program is running in this session. Nothing was typed.",
  OPERATION_FAILED: "Couldn't type the input.",
  FORBIDDEN:
    "You can't type that here. A key that can begin a command (!) needs the right to run anything: send it within a prompt.",
});

export function getInputErrorText(code: string): string {
  return INPUT_ERRORS[code] ?? `The server refused the input (${code}).`;
}
