/** The form of a container host. */
import type { ContainerHostResponse } from "../api/types.ts";
import { FormRow } from "../ui/FormRow.tsx";
import { Problem } from "../ui/Problem.tsx";
import { TextRow } from "../ui/TextRow.tsx";
import { type FieldForm, useFieldForm } from "../ui/useFieldForm.ts";
import { useFirstField } from "../ui/useFirstField.ts";
import { addContainerHost, changeContainerHost } from "./calls.ts";
import { bodyOf, CREDENTIALS, DEFAULT_IMAGE, type Draft, draftOf, EMPTY, problemsOf } from "./words.ts";

interface Props {
  /** The one to change; absent: a new one. */
  host?: ContainerHostResponse;
  onClose: () => void;
  onKept: () => void;
}

type Form = FieldForm<Draft>;

interface SelectProps {
  of: Form;
  name: "engine" | "mountCredentials";
  label: string;
  hint?: string;
  choices: readonly (readonly [string, string])[];
}

function SelectRow({ of, name, label, hint, choices }: SelectProps) {
  return (
    <FormRow form="box-host" name={name} label={label} hint={hint} problem={of.wrong[name]}>
      {(tied) => (
        <select
          class="field"
          value={of.draft[name]}
          onChange={(event) => of.set({ [name]: event.currentTarget.value } as Partial<Draft>)}
          {...tied}
        >
          {choices.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </FormRow>
  );
}

const ENGINES = [
  ["podman", "podman"],
  ["docker", "docker"],
] as const;

function Limits({ of }: { of: Form }) {
  return (
    <div class="box-limits">
      <TextRow form="box-host" of={of} name="memory" label="Memory" placeholder="4g" />
      <TextRow form="box-host" of={of} name="cpus" label="Processors" placeholder="2" numeric />
      <TextRow form="box-host" of={of} name="pids" label="Processes" placeholder="512" numeric />
    </div>
  );
}

function More({ of }: { of: Form }) {
  const wrong = ["context", "network", "extraCreateArgs", "extraExecArgs"].some((name) => of.wrong[name]);
  return (
    <details class="far-more" open={wrong}>
      <summary>Network and further words</summary>
      <TextRow
        form="box-host"
        of={of}
        name="network"
        label="Network"
        hint="of the engine’s; none closes it"
      />
      <TextRow
        form="box-host"
        of={of}
        name="context"
        label="Context"
        hint="the engine’s own name for where it runs"
      />
      <TextRow
        form="box-host"
        of={of}
        name="extraCreateArgs"
        label="Further words of create"
        hint="one a line; what would break the fence is refused"
        placeholder="--label=team=a"
        rows={3}
      />
      <TextRow
        form="box-host"
        of={of}
        name="extraExecArgs"
        label="Further words of exec"
        hint="variables, one word a line"
        placeholder="--env=LANG=C.UTF-8"
        rows={2}
      />
      <label class="box-hooks">
        <input
          type="checkbox"
          checked={of.draft.hooksEnabled}
          onChange={(event) => of.set({ hooksEnabled: event.currentTarget.checked })}
        />
        Hooks of agents may reach the service, where its bridge is open
      </label>
    </details>
  );
}

export function HostForm({ host, onClose, onKept }: Props) {
  const ref = useFirstField();
  const form = useFieldForm(host ? draftOf(host) : EMPTY, problemsOf, async (draft) => {
    const body = bodyOf(draft);
    await (host ? changeContainerHost(host.id, body) : addContainerHost(body));
    onKept();
  });
  return (
    <form
      ref={ref}
      class="sheet far-form"
      aria-label={host ? `Change ${host.label}` : "New container host"}
      onSubmit={(event) => void form.submit(event)}
      noValidate
      data-testid="box-host-form"
    >
      <TextRow form="box-host" of={form} name="label" label="Name" hint="as people read it" />
      <SelectRow of={form} name="engine" label="Engine" choices={ENGINES} />
      <TextRow
        form="box-host"
        of={form}
        name="image"
        label="Image"
        hint={`with a shell and tmux 3.2 or later; ${DEFAULT_IMAGE} is built here`}
      />
      <Limits of={form} />
      <SelectRow of={form} name="mountCredentials" label="What agents sign in with" choices={CREDENTIALS} />
      <More of={form} />
      <Problem text={form.problem} testid="box-host-problem" />
      <div class="sheet-foot">
        <small>What is changed holds for containers that are made from now on.</small>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={form.busy} data-testid="box-host-save">
          {form.busy ? "Saving…" : "Save"}
        </button>
      </div>
    </form>
  );
}
