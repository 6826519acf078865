/** The form of a new timed run. */
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import { Field } from "../settings/fields.tsx";
import { begin } from "./state.ts";

const EMPTY = { prompt: "", folder: "", minutes: "60" };

export function NewRun({ onClose }: { onClose: () => void }) {
  const { draft, set, submit, problem, busy } = useForm(EMPTY, async ({ prompt, folder, minutes }) => {
    const workingDir = folder.trim();
    await begin({ prompt, durationMinutes: Number(minutes), ...(workingDir !== "" && { workingDir }) });
    onClose();
  });
  return (
    <SheetForm
      label="New keep-going run"
      testid="run"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action="Start"
      actionTestid="run-begin"
    >
      <Field label="Prompt" hint="what the agent should do">
        <textarea
          class="field"
          rows={3}
          required
          value={draft.prompt}
          onInput={(event) => set({ prompt: event.currentTarget.value })}
          data-testid="run-prompt"
        />
      </Field>
      <Field label="Folder" hint="on the server">
        <input
          class="field"
          value={draft.folder}
          placeholder="default folder"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => set({ folder: event.currentTarget.value })}
          data-testid="run-folder"
        />
      </Field>
      <Field label="Minutes" hint="1 to 14400">
        <input
          class="field"
          type="number"
          min={1}
          max={14_400}
          required
          value={draft.minutes}
          onInput={(event) => set({ minutes: event.currentTarget.value })}
          data-testid="run-minutes"
        />
      </Field>
    </SheetForm>
  );
}
