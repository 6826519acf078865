/** The form of a custom entry, with the command line that comes of it. */
import { useState } from "preact/hooks";
import { getErrorText } from "../../api/errors.ts";
import { Field } from "../settings/fields.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";
import type { CliItem } from "../../api/types.ts";
import { addCli, replaceCli } from "./calls.ts";
import { bodyOf, commandLine, type Draft, draftOf, EMPTY, validateDraft, addAdvice } from "./texts.ts";

const FIELDS: [Exclude<keyof Draft, "others">, string, string, number][] = [
  ["label", "Name", "shown in lists", 60],
  ["id", "Id", "used by scripts as the mode", 24],
  ["badge", "Badge", "up to 6 characters, shown in lists", 6],
  ["program", "Program", "its name on PATH", 200],
  ["words", "Arguments", "separated by spaces, passed without a shell", 1000],
];

interface Props {
  /** The custom entry to change; absent: a new one. */
  cli?: CliItem;
  onClose: () => void;
  onMade: () => void;
}

export function CliForm({ cli, onClose, onMade }: Props) {
  const form = useFirstField();
  const [draft, setDraft] = useState(cli ? draftOf(cli) : EMPTY);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const wrong = validateDraft(draft);
    if (wrong !== undefined) return setProblem(wrong);
    setBusy(true);
    try {
      await (cli ? replaceCli(cli.id, bodyOf(draft)) : addCli(draft.id.trim(), bodyOf(draft)));
      onMade();
    } catch (error) {
      setProblem(addAdvice(getErrorText(error)));
      setBusy(false);
    }
  };
  return (
    <form
      ref={form}
      class="sheet"
      onSubmit={(event) => void submit(event)}
      aria-label={cli ? `Edit ${cli.label}` : "New agent"}
      data-testid="new-cli-form"
    >
      {FIELDS.map(([name, label, hint, most]) => (
        <Field key={name} label={label} hint={hint}>
          <input
            class="field"
            value={draft[name]}
            readOnly={name === "id" && cli !== undefined}
            maxLength={most}
            onInput={(event) => {
              const value = event.currentTarget.value;
              setProblem("");
              setDraft((before) => ({ ...before, [name]: value }));
            }}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            data-testid={`new-cli-${name}`}
          />
        </Field>
      ))}
      <p class="dim">Sessions run</p>
      <pre class="example" aria-label="Command line" data-testid="new-cli-command">
        {commandLine(draft) || "…"}
      </pre>
      <Problem text={problem} testid="new-cli-problem" />
      <div class="sheet-foot">
        <small>Anyone who starts this agent can run commands as the server's user.</small>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy} data-testid="new-cli-create">
          {busy ? "Saving…" : cli ? "Save" : "Add"}
        </button>
      </div>
    </form>
  );
}
