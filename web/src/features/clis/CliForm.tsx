/** The form of a custom entry, with the command line that comes of it. */
import { api } from "../../api/client.ts";
import { getErrorText } from "../../api/errors.ts";
import { Field } from "../settings/fields.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import type { CliItem } from "../../api/types.ts";
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
  const send = async (wanted: Draft) => {
    const body = bodyOf(wanted);
    if (cli) await api.put("/api/clis/custom/{id}", { path: { id: cli.id }, body });
    else await api.post("/api/clis", { body: { id: wanted.id.trim(), ...body } });
    onMade();
  };
  const { draft, set, submit, problem, busy } = useForm(cli ? draftOf(cli) : EMPTY, send, {
    validate: validateDraft,
    describe: (error) => addAdvice(getErrorText(error)),
  });
  return (
    <SheetForm
      label={cli ? `Edit ${cli.label}` : "New agent"}
      testid="new-cli"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action={cli ? "Save" : "Add"}
      pending="Saving…"
      actionTestid="new-cli-create"
      note="Anyone who starts this agent can run commands as the server's user."
    >
      {FIELDS.map(([name, label, hint, most]) => (
        <Field key={name} label={label} hint={hint}>
          <input
            class="field"
            value={draft[name]}
            readOnly={name === "id" && cli !== undefined}
            maxLength={most}
            onInput={(event) => set({ [name]: event.currentTarget.value })}
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
    </SheetForm>
  );
}
