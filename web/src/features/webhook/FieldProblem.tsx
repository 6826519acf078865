import { Icon } from "../../ui/Icon.tsx";
import type { FieldName, Problem } from "./texts.ts";

export const problemId = (field: FieldName): string => `webhook-problem-${field}`;

/** What is wrong with a field, below it and tied to it. */
export function FieldProblem({ field, problem }: { field: FieldName; problem: Problem | undefined }) {
  if (problem?.field !== field) return null;
  return (
    <p class="webhook-problem" id={problemId(field)} role="alert" data-testid={problemId(field)}>
      <Icon name="alert" size={15} /> {problem.text}
    </p>
  );
}
