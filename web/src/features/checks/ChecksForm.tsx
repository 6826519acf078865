/** The checks of a workspace: commands that run when an agent has ended its turn there. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { CaseChecksResponse } from "../../api/types.ts";
import { useRead } from "../../store/resource.ts";
import { showToast } from "../../store/toasts.ts";
import { Button } from "../../ui/Button.tsx";
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { Segments } from "../../ui/Segments.tsx";
import { Select } from "../../ui/Select.tsx";
import { CheckFile, fileOfCase } from "./CheckFile.tsx";
import { describeProblem, type Draft, type DraftCheck, makeBody, makeDraft, NEW_CHECK } from "./draft.ts";
import "./checks.css";

const MOST = 20;
const POLICIES = [
  ["notify", "Tell me"],
  ["send_back", "Send it to the agent"],
] as const;
const ATTEMPTS = ["1", "2", "3", "4", "5"].map((each) => [each, each] as const);

interface CheckProps {
  check: DraftCheck;
  number: number;
  onChange: (part: Partial<DraftCheck>) => void;
  onRemove: () => void;
}

function CheckFields({ check, number, onChange, onRemove }: CheckProps) {
  const said = check.name || `check ${number + 1}`;
  return (
    <fieldset data-testid="check-fields">
      <legend>{said}</legend>
      <div class="check-line">
        <PlainInput
          value={check.name}
          placeholder="tests"
          maxLength={32}
          aria-label={`Name of check ${number + 1}`}
          onText={(name) => onChange({ name })}
          testid="check-name"
        />
        <PlainInput
          value={check.seconds}
          inputMode="numeric"
          aria-label={`Time limit of ${said} in seconds`}
          onText={(seconds) => onChange({ seconds })}
          testid="check-seconds"
        />
      </div>
      <PlainInput
        value={check.command}
        placeholder="npm test"
        maxLength={2000}
        aria-label={`Command of ${said}`}
        onText={(command) => onChange({ command })}
        testid="check-command"
      />
      <PlainInput
        value={check.paths}
        placeholder="All files (or: src/* *.json)"
        aria-label={`Files that ${said} is about`}
        onText={(paths) => onChange({ paths })}
        testid="check-paths"
      />
      <Button small onClick={onRemove} label={`Remove ${said}`} testid="check-remove">
        Remove
      </Button>
    </fieldset>
  );
}

interface FormProps {
  name: string;
  saved: CaseChecksResponse;
  /** Told how many checks there are now. */
  onSaved: (count: number) => void;
}

function Form({ name, saved, onSaved }: FormProps) {
  const [draft, setDraft] = useState<Draft>(() => makeDraft(saved));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setProblem("");
  };
  const change = (at: number, part: Partial<DraftCheck>) =>
    set({ checks: draft.checks.map((each, place) => (place === at ? { ...each, ...part } : each)) });
  const save = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await api.put("/api/cases/{name}/checks", { path: { name }, body: makeBody(draft) });
      setProblem("");
      onSaved(draft.checks.length);
      showToast("good", "Checks saved");
    } catch (error) {
      setProblem(describeProblem(error, draft));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="check-form" onSubmit={(event) => void save(event)} data-testid="check-form">
      <p class="dim">
        Commands that run here when an agent has ended its turn and changed something. You are told when they
        are green.
      </p>
      {draft.checks.map((check, number) => (
        <CheckFields
          key={check.key}
          check={check}
          number={number}
          onChange={(part) => change(number, part)}
          onRemove={() => set({ checks: draft.checks.filter((each) => each !== check) })}
        />
      ))}
      <Button
        small
        disabled={draft.checks.length >= MOST}
        onClick={() => set({ checks: [...draft.checks, NEW_CHECK()] })}
        testid="check-add"
      >
        Add a check
      </Button>
      <Segments
        label="When a check fails"
        choices={POLICIES}
        value={draft.onFailure}
        onChange={(onFailure) => set({ onFailure })}
        testid="check-policy"
      />
      {draft.onFailure === "send_back" && (
        <label>
          Attempts of the agent before you are told{" "}
          <Select
            choices={ATTEMPTS}
            value={draft.attempts}
            onChoose={(attempts) => set({ attempts })}
            testid="check-attempts"
          />
        </label>
      )}
      <Problem text={problem} testid="check-problem" />
      <div class="case-buttons">
        <Button submit small disabled={busy} testid="check-save">
          Save checks
        </Button>
      </div>
    </form>
  );
}

export function ChecksForm({ name }: { name: string }) {
  const [own, setOwn] = useState<number>();
  const { data, problem } = useRead(
    (signal) => api.get("/api/cases/{name}/checks", { path: { name }, signal }),
    [name],
  );
  return (
    <>
      <details class="case-checks" data-testid="case-checks">
        <summary>
          <strong>Checks</strong> {data && <span class="dim">{data.checks.length || "none"}</span>}
        </summary>
        <Problem text={problem} />
        {data && <Form key={name} name={name} saved={data} onSaved={setOwn} />}
      </details>
      <CheckFile place={fileOfCase(name)} of={name} overruled={(own ?? data?.checks.length ?? 0) > 0} />
    </>
  );
}
