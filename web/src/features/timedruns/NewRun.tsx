/** The form of a new timed run. */
import { useState } from "preact/hooks";
import { getErrorText } from "../../api/errors.ts";
import { Field } from "../settings/fields.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";
import { begin } from "./state.ts";

export function NewRun({ onClose }: { onClose: () => void }) {
  const form = useFirstField();
  const [prompt, setPrompt] = useState("");
  const [folder, setFolder] = useState("");
  const [minutes, setMinutes] = useState("60");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { prompt, durationMinutes: Number(minutes) };
      await begin(folder.trim() === "" ? body : { ...body, workingDir: folder.trim() });
      onClose();
    } catch (error) {
      setProblem(getErrorText(error));
      setBusy(false);
    }
  };
  return (
    <form ref={form} class="sheet" onSubmit={(event) => void submit(event)} aria-label="New keep-going run">
      <Field label="Prompt" hint="what the agent should do">
        <textarea
          class="field"
          rows={3}
          required
          value={prompt}
          onInput={(event) => setPrompt(event.currentTarget.value)}
          data-testid="run-prompt"
        />
      </Field>
      <Field label="Folder" hint="on the server">
        <input
          class="field"
          value={folder}
          placeholder="default folder"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => setFolder(event.currentTarget.value)}
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
          value={minutes}
          onInput={(event) => setMinutes(event.currentTarget.value)}
          data-testid="run-minutes"
        />
      </Field>
      <Problem text={problem} testid="run-problem" />
      <div class="sheet-foot">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy} data-testid="run-begin">
          Start
        </button>
      </div>
    </form>
  );
}
