/** A new case: a folder of the service's own, filled for agents. */
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { api } from "../../api/client.ts";
import { InlineForm } from "./InlineForm.tsx";
import { validateCaseName } from "./rules.ts";
import type { CaseResponse } from "../../api/types.ts";

export function CreatePane({
  cases,
  onMade,
}: {
  cases: readonly CaseResponse[];
  onMade: (made: CaseResponse) => void;
}) {
  const [problem, setProblem] = useState("");
  const make = async (name: string) => {
    const wrong = validateCaseName(name, cases);
    if (wrong !== undefined) return setProblem(wrong);
    setProblem("");
    try {
      onMade((await api.post("/api/cases", { body: { name } })).case);
    } catch (error) {
      setProblem(formatError(error));
    }
  };
  return (
    <>
      <p class="picker-none">Creates a folder with starter instructions for agents.</p>
      <InlineForm label="Workspace name" action="Create" problem={problem} onSubmit={make} />
    </>
  );
}
