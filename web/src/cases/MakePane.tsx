/** A new case: a folder of the service's own, filled for agents. */
import { useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import { makeCase } from "./calls.ts";
import { InlineForm } from "./InlineForm.tsx";
import { nameProblem } from "./rules.ts";
import type { CaseResponse } from "./types.ts";

export function MakePane({
  cases,
  onMade,
}: {
  cases: readonly CaseResponse[];
  onMade: (made: CaseResponse) => void;
}) {
  const [problem, setProblem] = useState("");
  const make = async (name: string) => {
    const wrong = nameProblem(name, cases);
    if (wrong !== undefined) return setProblem(wrong);
    setProblem("");
    try {
      onMade((await makeCase(name)).case);
    } catch (error) {
      setProblem(sentenceOf(error));
    }
  };
  return (
    <>
      <p class="picker-none">
        A folder of the service’s, with files that tell agents what it is for. To make one elsewhere, browse
        to the place.
      </p>
      <InlineForm label="Name of the case" action="Make" problem={problem} onSubmit={make} />
    </>
  );
}
