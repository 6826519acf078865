/** A new case from a repository. The clone goes on when the dialog is closed. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { showError } from "../../store/toasts.ts";
import { api } from "../../api/client.ts";
import { reportMissingParts } from "./missingparts.ts";
import { formatCloneProgress, suggestCaseName, validateCaseName } from "./rules.ts";
import { caseList as known } from "./state.ts";
import type { CaseResponse, CloneResponse, CloneCaseBody } from "../../api/types.ts";
import "./worktree.css";

function useClone(onMade: (made: CaseResponse) => void) {
  const [running, setRunning] = useState<string>();
  const [problem, setProblem] = useState("");
  const arrive = ({ case: made, warnings }: CloneResponse) => {
    reportMissingParts(made.name, warnings);
    onMade(made);
  };
  const clone = async (body: CloneCaseBody) => {
    setProblem("");
    setRunning(body.name);
    try {
      arrive(await api.post("/api/cases/clone", { body }));
    } catch (error) {
      setProblem(formatError(error));
    } finally {
      setRunning(undefined);
    }
  };
  return { running, problem, clone };
}

function Progress({ name }: { name: string }) {
  const cloning = known.data.value?.find((each) => each.name === name)?.cloning;
  const percent = cloning?.percent;
  const cancel = () =>
    api
      .post("/api/cases/clone/{name}/cancel", { path: { name } })
      .catch((error: unknown) => showError("Couldn't cancel the clone", error));
  return (
    <div class="clone-progress" data-testid="clone-progress">
      <progress
        max={100}
        aria-label={`Cloning ${name}`}
        {...(typeof percent === "number" && { value: percent })}
      />
      <span role="status">{cloning ? formatCloneProgress(cloning) : "Connecting…"}</span>
      <Button small onClick={() => void cancel()} testid="clone-cancel">
        Cancel
      </Button>
    </div>
  );
}

export function ClonePane({
  cases,
  onMade,
}: {
  cases: readonly CaseResponse[];
  onMade: (made: CaseResponse) => void;
}) {
  const [repository, setRepository] = useState("");
  const [typed, setTyped] = useState<string>();
  const [ref, setRef] = useState("");
  const [shallow, setShallow] = useState(false);
  const { running, problem, clone } = useClone(onMade);
  const name = typed ?? suggestCaseName(repository);
  // While it runs the name is taken by the clone itself.
  const wrong = running === undefined ? validateCaseName(name, cases) : undefined;
  const ready = repository.trim() !== "" && name !== "" && wrong === undefined && running === undefined;
  const start = () =>
    clone({
      name,
      repository: repository.trim(),
      ...(ref.trim() !== "" && { ref: ref.trim() }),
      ...(shallow && { shallow }),
    });
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (ready) void start();
  };
  const text = {
    class: "field",
    type: "text",
    autocomplete: "off",
    spellcheck: false,
    onKeyDown: enter,
  } as const;
  return (
    <div class="clone">
      <input
        {...text}
        value={repository}
        placeholder="https://git.example.org/team/project.git"
        aria-label="Repository URL"
        autocapitalize="off"
        onInput={(event) => setRepository(event.currentTarget.value)}
        data-testid="clone-repository"
      />
      <div class="clone-pair">
        <input
          {...text}
          value={name}
          placeholder="Workspace name"
          aria-label="Workspace name"
          aria-invalid={wrong !== undefined}
          onInput={(event) => setTyped(event.currentTarget.value.trim() || undefined)}
          data-testid="clone-name"
        />
        <input
          {...text}
          value={ref}
          placeholder="Branch or tag (optional)"
          aria-label="Branch or tag"
          onInput={(event) => setRef(event.currentTarget.value)}
        />
      </div>
      <label class="picker-check">
        <input
          type="checkbox"
          checked={shallow}
          onChange={(event) => setShallow(event.currentTarget.checked)}
        />
        Only the latest commit
      </label>
      {(wrong ?? problem) !== "" && (
        <p class="field-problem" role="alert" data-testid="clone-problem">
          {wrong ?? problem}
        </p>
      )}
      {running === undefined ? (
        <Button disabled={!ready} onClick={() => void start()} testid="clone-start">
          Clone
        </Button>
      ) : (
        <Progress name={running} />
      )}
    </div>
  );
}
