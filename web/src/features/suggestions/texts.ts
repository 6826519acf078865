/** Suggestions as people read them. */
import type { SuggestionResponse } from "../../api/types.ts";

type Kind = SuggestionResponse["kind"];

const KINDS: Record<Kind, string> = { continue: "Continue", verify: "Check", redirect: "Change course" };

/** A kind of a later service is told by its name. */
export const getKindLabel = (kind: string): string => KINDS[kind as Kind] ?? kind;

export const REJECTED_MAX = 10;

/** Characters of the goals in a workspace. */
export const GOALS_MAX = 8_192;

/** What another guess must not be: the newest of all that was shown. */
export function collectRejected(before: readonly string[], shown: readonly { prompt: string }[]): string[] {
  return [...new Set([...before, ...shown.map((each) => each.prompt)])].slice(-REJECTED_MAX);
}
