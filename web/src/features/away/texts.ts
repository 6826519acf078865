/** What sessions did, in a line. */
import type { AwaySessionResponse } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { table } from "../../lib/table.ts";

type Numbers = Pick<
  AwaySessionResponse,
  "turns" | "files" | "commits" | "answered" | "byRule" | "cost" | "checks"
>;

const CHECKS = table({ green: "checks green", red: "checks red" });

function describeAnswers({ answered, byRule }: Numbers): string | false {
  if (answered === 0) return false;
  return byRule > 0 ? `${plural(answered, "answer")}, ${byRule} by rules` : plural(answered, "answer");
}

export const describeAway = (numbers: Numbers): string =>
  [
    numbers.turns > 0 && plural(numbers.turns, "turn"),
    numbers.files > 0 && plural(numbers.files, "file"),
    numbers.commits > 0 && plural(numbers.commits, "commit"),
    numbers.checks !== undefined && (CHECKS[numbers.checks] ?? "checks without a result"),
    describeAnswers(numbers),
    numbers.cost >= 0.01 && `$${numbers.cost.toFixed(2)}`,
  ]
    .filter((part) => part !== false)
    .join(" · ");

/** All of them in one line. */
export function sumAway(listed: readonly AwaySessionResponse[]): string {
  const sum = (name: Exclude<keyof Numbers, "checks">) =>
    listed.reduce((total, each) => total + each[name], 0);
  return describeAway({
    turns: sum("turns"),
    files: sum("files"),
    commits: sum("commits"),
    answered: sum("answered"),
    byRule: sum("byRule"),
    cost: sum("cost"),
  });
}
