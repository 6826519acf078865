/** Makes a job or changes one, in the place of the list. */
import { Select } from "../../../ui/Select.tsx";
import { Button } from "../../../ui/Button.tsx";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Field, Switch } from "../../settings/fields.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import type { Editing } from "./editing.ts";
import { type Definition, NAME_MAX, isShellMode } from "../jobs/job.ts";
import { PromptFields } from "./PromptFields.tsx";
import { Row } from "./rows.tsx";
import { ScheduleFields } from "./ScheduleFields.tsx";
import { type EditorState, useEditor } from "./useEditor.ts";
import { TaskFields } from "./TaskFields.tsx";

const POLICIES: readonly [Definition["concurrencyPolicy"], string][] = [
  ["warn_only", "Run anyway"],
  ["skip_if_same_agent_running", "Skip this time"],
];

function NameField({ state: { draft, set, problems } }: { state: EditorState }) {
  return (
    <Row name="name" label="Name" problem={problems.name}>
      {(tied) => (
        <input
          {...tied}
          class="field"
          value={draft.name}
          maxLength={NAME_MAX}
          placeholder="e.g. Update dependencies"
          autocomplete="off"
          autofocus
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

function RuleFields({ state: { draft, set } }: { state: EditorState }) {
  return (
    <div class="form-rules">
      <Field
        label={isShellMode(draft.agentType) ? "If a shell is running" : "If the same agent is running"}
        hint="in a session of another job or user; Run now ignores this"
      >
        <Select
          value={draft.concurrencyPolicy}
          testid="job-concurrencyPolicy"
          choices={POLICIES}
          onChoose={(chosen) => set({ concurrencyPolicy: chosen })}
        />
      </Field>
      {draft.scheduleType !== "once" && (
        <Switch
          label="Close the previous run's session"
          hint="even if it is still working"
          value={draft.autoClosePreviousSession}
          onChange={(autoClosePreviousSession) => set({ autoClosePreviousSession })}
        />
      )}
      <Switch
        label="Enabled"
        hint="when off, it runs only when you press Run now"
        value={draft.enabled}
        onChange={(enabled) => set({ enabled })}
      />
    </div>
  );
}

function NotesField({ state: { draft, set, problems } }: { state: EditorState }) {
  return (
    <Row name="notes" label="Notes" hint="not sent to the agent" problem={problems.notes}>
      {(tied) => (
        <textarea
          {...tied}
          class="field plain-text"
          rows={2}
          value={draft.notes}
          onInput={(event) => set({ notes: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

interface FootProps {
  state: EditorState;
  fresh: boolean;
  onTry: () => void;
}

function Foot({ state, fresh, onTry }: FootProps) {
  const word = fresh ? "Create job" : "Save";
  return (
    <div class="dialog-foot">
      {state.trouble !== "" && (
        <p class="problem" role="alert" data-testid="job-trouble">
          <Icon name="alert" /> {state.trouble}
        </p>
      )}
      <Button onClick={state.close}>Cancel</Button>
      <Button disabled={state.busy} onClick={onTry} testid="job-try" title="Saves the job and runs it once">
        <Icon name="play" size={14} /> Try it now
      </Button>
      <Button submit primary disabled={state.busy} testid="job-save">
        {state.busy ? "Saving…" : word}
      </Button>
    </div>
  );
}

/** The head and the first field come into sight, however far the list was scrolled. */
function useStart() {
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    section.current?.scrollIntoView({ block: "start" });
    section.current?.querySelector<HTMLElement>("[autofocus]")?.focus({ preventScroll: true });
  }, []);
  return section;
}

/** What is open within it, a choice or a question, hears of Escape first. */
function leaveByEscape(event: KeyboardEvent, leave: () => void): void {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  event.preventDefault();
  leave();
}

export function Editor({ start }: { start: Editing }) {
  const state = useEditor(start);
  const section = useStart();
  const headId = useId();
  const form = useRef<HTMLFormElement>(null);
  const fresh = start.id === undefined;
  const save = (run: boolean) => form.current && state.save(form.current, run);
  const submit = (event: Event) => {
    event.preventDefault();
    save(false);
  };
  return (
    <section
      ref={section}
      class="cron-editor"
      aria-labelledby={headId}
      data-testid="cron-editor"
      onKeyDown={(event) => leaveByEscape(event, state.close)}
    >
      <h3 id={headId}>{fresh ? "New job" : "Edit job"}</h3>
      <form ref={form} onSubmit={submit} noValidate>
        <NameField state={state} />
        <TaskFields state={state} />
        <PromptFields state={state} />
        <ScheduleFields state={state} />
        <RuleFields state={state} />
        <NotesField state={state} />
        <Foot state={state} fresh={fresh} onTry={() => save(true)} />
      </form>
    </section>
  );
}
