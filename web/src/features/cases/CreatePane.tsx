/** A new case: a folder of the service's own, filled for agents. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { api } from "../../api/client.ts";
import { validateCaseName } from "./rules.ts";
import type { CaseResponse } from "../../api/types.ts";

interface Props {
  label: string;
  action: string;
  placeholder?: string;
  problem: string;
  onSubmit: (value: string) => Promise<void>;
}

export function InlineForm({ label, action, placeholder, problem, onSubmit }: Props) {
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    if (busy || value.trim() === "") return;
    setBusy(true);
    await onSubmit(value.trim());
    setBusy(false);
  };
  return (
    <div class="inline-form">
      <PlainInput
        value={value}
        placeholder={placeholder ?? label}
        aria-label={label}
        onText={setValue}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          void submit();
        }}
        testid="inline-field"
      />
      <Button disabled={busy || value.trim() === ""} onClick={() => void submit()} testid="inline-submit">
        {action}
      </Button>
      {problem !== "" && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

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
