/** What is typed into the session, and how. */
import type { Draft } from "./draft.ts";
import { KEEP_GOING_MAX, PROMPT_MAX, isShellMode } from "../jobs/job.ts";
import { Row, Choice } from "./rows.tsx";
import type { EditorState } from "./useEditor.ts";

const SOURCES = [
  ["inline_text", "Written here"],
  ["prompt_file_path", "From a file"],
] as const;

const WAYS = [
  ["paste", "Paste"],
  ["typed", "Type key by key"],
] as const;

function TextField({ state: { draft, set, problems } }: { state: EditorState }) {
  return (
    <Row
      name="promptText"
      label={isShellMode(draft.agentType) ? "Input" : "Prompt"}
      hint={isShellMode(draft.agentType) ? "each line is a command" : undefined}
      problem={problems.promptText}
    >
      {(tied) => (
        <textarea
          {...tied}
          class="field"
          rows={5}
          value={draft.promptText}
          maxLength={PROMPT_MAX}
          spellcheck={!isShellMode(draft.agentType)}
          placeholder={
            isShellMode(draft.agentType)
              ? "df -h | tail -n +2"
              : "Update the dependencies, run the tests and summarize."
          }
          onInput={(event) => set({ promptText: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

function example(draft: Draft): string {
  const folder = draft.workingDir.trim().replace(/\/+$/, "");
  return `${folder.startsWith("/") ? folder : ""}/prompt.md`;
}

function FileField({ state: { draft, set, problems } }: { state: EditorState }) {
  return (
    <Row
      name="promptFilePath"
      label="File"
      hint="in the folder or below it, 1 MiB at most; read at each run"
      problem={problems.promptFilePath}
    >
      {(tied) => (
        <input
          {...tied}
          class="field code"
          value={draft.promptFilePath}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={example(draft)}
          onInput={(event) => set({ promptFilePath: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

function KeepGoingField({ state: { draft, set, problems } }: { state: EditorState }) {
  return (
    <Row
      name="keepGoingMinutes"
      label="Keep going"
      hint="minutes for which the agent is told to continue after each turn"
      problem={problems.keepGoingMinutes}
    >
      {(tied) => (
        <input
          {...tied}
          type="number"
          inputMode="numeric"
          min={1}
          max={KEEP_GOING_MAX}
          class="field short"
          value={draft.keepGoing}
          placeholder="off"
          onInput={(event) => set({ keepGoing: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

export function PromptFields({ state }: { state: EditorState }) {
  const { draft, set } = state;
  return (
    <fieldset class="form-group">
      <legend>Prompt</legend>
      <Choice
        label="Source"
        choices={SOURCES}
        value={draft.promptMode}
        testid="prompt-source"
        onChange={(promptMode) => set({ promptMode })}
      />
      {draft.promptMode === "inline_text" ? <TextField state={state} /> : <FileField state={state} />}
      {!isShellMode(draft.agentType) && <KeepGoingField state={state} />}
      <details class="job-advanced" open={draft.inputMode === "typed"} data-testid="job-advanced">
        <summary>Advanced</summary>
        <Choice
          label="Delivery"
          choices={WAYS}
          value={draft.inputMode}
          testid="delivery"
          onChange={(inputMode) => set({ inputMode })}
        />
      </details>
    </fieldset>
  );
}
