/** A rule before it is made. */
import type { ApprovalRuleBody, RuleMatchBody } from "../../api/types.ts";

export type MatchKind = "prefix" | "pattern" | "exact" | "path" | "url" | "mcp";

export const KINDS: readonly [MatchKind, string, string][] = [
  ["prefix", "Commands that begin with", "npm test"],
  ["pattern", "Commands with *", "npm run test:*"],
  ["exact", "Exactly this command", "make clean && make"],
  ["path", "Files", "src/**"],
  ["url", "Host", "docs.python.org"],
  ["mcp", "MCP tool", "server/tool"],
];

/** The tools that each kind is about, the usual one first. */
export const TOOLS: Record<MatchKind, readonly [string, string][]> = {
  prefix: [["Bash", "Bash"]],
  pattern: [["Bash", "Bash"]],
  exact: [["Bash", "Bash"]],
  path: [
    ["Edit", "Edit"],
    ["Write", "Write"],
    ["MultiEdit", "MultiEdit"],
    ["Read", "Read"],
  ],
  url: [["WebFetch", "WebFetch"]],
  mcp: [["mcp", "MCP"]],
};

export type Lifetime = "never" | "hour" | "day" | "week";

export const LIFETIMES: readonly [Lifetime, string][] = [
  ["never", "until deleted"],
  ["hour", "for an hour"],
  ["day", "for a day"],
  ["week", "for a week"],
];

const HOUR_MS = 60 * 60 * 1000;
const LIVES: Record<Lifetime, number | undefined> = {
  never: undefined,
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
};

export interface Draft {
  kind: MatchKind;
  tool: string;
  text: string;
  action: ApprovalRuleBody["action"];
  /** `all`, or `case:` and `session:` with a name. */
  scope: string;
  lifetime: Lifetime;
  note: string;
}

export const EMPTY: Draft = {
  kind: "prefix",
  tool: "Bash",
  text: "",
  action: "allow",
  scope: "all",
  lifetime: "never",
  note: "",
};

const WORD = /'([^']*)'|"([^"]*)"|(\S+)/g;

/** The words of a command as a shell reads them; quotes hold blanks together. */
export const splitWords = (text: string): string[] =>
  [...text.matchAll(WORD)].map(([, single, double, plain]) => single ?? double ?? plain ?? "");

function matchOf({ kind, text }: Draft): RuleMatchBody {
  const given = text.trim();
  if (kind === "prefix" || kind === "pattern") return { command: { [kind]: splitWords(given) } };
  return kind === "exact" ? { command: { exact: given } } : { [kind]: given };
}

function scopeOf(scope: string): ApprovalRuleBody["scope"] {
  const [kind, ...rest] = scope.split(":");
  const name = rest.join(":");
  if (kind === "case") return { caseName: name };
  return kind === "session" ? { sessionId: name } : { all: true };
}

export function bodyOf(draft: Draft, now: number): ApprovalRuleBody {
  const life = LIVES[draft.lifetime];
  return {
    scope: scopeOf(draft.scope),
    tool: draft.tool,
    match: matchOf(draft),
    action: draft.action,
    note: draft.note.trim(),
    ...(life === undefined ? {} : { expiresAt: now + life }),
  };
}

export const validateDraft = (draft: Draft): string | undefined =>
  draft.text.trim() === "" ? "Say what the rule is about." : undefined;
