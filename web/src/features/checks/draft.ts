/** What stands in the form of checks, and what of it is sent. */
import { formatError, parseFieldError } from "../../api/errors.ts";
import type { CaseChecksBody, CaseChecksResponse } from "../../api/types.ts";

export interface DraftCheck {
  /** Of its place on the page; two checks may have the same name for a while. */
  key: number;
  name: string;
  command: string;
  seconds: string;
  /** Patterns, with blanks between them. */
  paths: string;
}

export interface Draft {
  checks: readonly DraftCheck[];
  onFailure: "notify" | "send_back";
  attempts: string;
}

let made = 0;

export const NEW_CHECK = (): DraftCheck => ({
  key: ++made,
  name: "",
  command: "",
  seconds: "600",
  paths: "",
});

export function makeDraft({ checks, onFailure, maxAttempts }: CaseChecksResponse): Draft {
  return {
    checks: checks.map(({ name, command, timeoutSeconds, paths }) => ({
      ...NEW_CHECK(),
      name,
      command,
      seconds: String(timeoutSeconds),
      paths: paths.join(" "),
    })),
    onFailure,
    attempts: String(maxAttempts || 3),
  };
}

export function makeBody({ checks, onFailure, attempts }: Draft): CaseChecksBody {
  return {
    checks: checks.map(({ name, command, seconds, paths }) => ({
      name: name.trim(),
      command,
      // What is no number is refused by the service, which names the field.
      timeoutSeconds: /^\d+$/.test(seconds.trim()) ? Number(seconds) : 0,
      paths: paths.split(/\s+/).filter((each) => each !== ""),
    })),
    onFailure,
    maxAttempts: onFailure === "send_back" ? Number(attempts) : 0,
  };
}

const LABELS: Readonly<Record<string, string>> = {
  name: "the name",
  command: "the command",
  timeoutSeconds: "the time limit",
  paths: "each pattern",
};

/** @returns what is wrong, with the check and its field. */
export function describeProblem(error: unknown, { checks }: Draft): string {
  const found = parseFieldError(error);
  const [, at = "", field = ""] = /^[.[](\d+)\]?\.(\w+)/.exec(found?.part ?? "") ?? [];
  const label = LABELS[field];
  if (found?.field !== "checks" || label === undefined) return formatError(error);
  const number = Number(at);
  return `${checks[number]?.name || `Check ${number + 1}`}: ${label} ${found.rule}`;
}
