/** Words for rules. */
import type { ApprovalRuleResponse, RuleMatchResponse, RuleScopeResponse } from "../../api/types.ts";
import { formatAhead } from "../../lib/ago.ts";

/** A word as one types it in a shell. */
const quote = (word: string): string => (/^[\w./:=@%+,*-]+$/.test(word) ? word : `'${word}'`);

export const joinWords = (words: readonly string[]): string => words.map(quote).join(" ");

export function describeMatch(match: RuleMatchResponse): string {
  const { command } = match;
  if (command?.prefix) return `${joinWords(command.prefix)} …`;
  if (command?.pattern) return joinWords(command.pattern);
  return command?.exact ?? match.path ?? match.url ?? match.mcp ?? "everything";
}

export function describeScope(scope: RuleScopeResponse, nameOf: (id: string) => string | undefined): string {
  if (scope.caseName !== undefined) return `in ${scope.caseName}`;
  if (scope.sessionId !== undefined) return `in session ${nameOf(scope.sessionId) ?? scope.sessionId}`;
  return "everywhere";
}

export function describeEnd(rule: ApprovalRuleResponse, now: number): string | undefined {
  return rule.expiresAt === undefined ? undefined : `ends ${formatAhead(rule.expiresAt, now)}`;
}

export const ACTIONS = { allow: "Allow", deny: "Deny", ask: "Ask me" } as const;
export const ANSWERS = { allowed: "allowed", denied: "denied", other: "in the terminal" } as const;
