/** The form of a container host. */
import { Select } from "../../ui/Select.tsx";
import { api } from "../../api/client.ts";
import type { ContainerHostResponse } from "../../api/types.ts";
import { FormRow } from "../../ui/FormRow.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { TextRow } from "../../ui/TextRow.tsx";
import { type FieldForm, useFieldForm } from "../../ui/useFieldForm.ts";
import { bodyOf, CREDENTIALS, DEFAULT_IMAGE, type Draft, draftOf, EMPTY, validateDraft } from "./texts.ts";

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
    <FormRow form="container-host" name={name} label={label} hint={hint} problem={of.wrong[name]}>
      {(tied) => (
        <Select
          value={of.draft[name]}
          choices={choices}
          onChoose={(chosen) => of.set({ [name]: chosen } as Partial<Draft>)}
          {...tied}
        />
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
    <div class="container-limits">
      <TextRow form="container-host" of={of} name="memory" label="Memory" placeholder="4g" />
      <TextRow form="container-host" of={of} name="cpus" label="Processors" placeholder="2" numeric />
      <TextRow form="container-host" of={of} name="pids" label="Processes" placeholder="512" numeric />
    </div>
  );
}

function More({ of }: { of: Form }) {
  const wrong = ["context", "network", "extraCreateArgs", "extraExecArgs"].some((name) => of.wrong[name]);
  return (
    <details class="host-more" open={wrong}>
      <summary>Network and extra options</summary>
      <TextRow
        form="container-host"
        of={of}
        name="network"
        label="Network"
        hint="an engine network, or none for no network"
      />
      <TextRow
        form="container-host"
        of={of}
        name="context"
        label="Context"
        hint="the engine's name for its connection"
      />
      <TextRow
        form="container-host"
        of={of}
        name="extraCreateArgs"
        label="Extra options for create"
        hint="one per line; options that weaken the sandbox are refused"
        placeholder="--label=team=a"
        rows={3}
      />
      <TextRow
        form="container-host"
        of={of}
        name="extraExecArgs"
        label="Extra options for exec"
        hint="variables, one per line"
        placeholder="--env=LANG=C.UTF-8"
        rows={2}
      />
      <label class="container-hooks">
        <input
          type="checkbox"
          checked={of.draft.hooksEnabled}
          onChange={(event) => of.set({ hooksEnabled: event.currentTarget.checked })}
        />
        Let agent hooks reach the server if its bridge is open
      </label>
    </details>
  );
}

export function HostForm({ host, onClose, onKept }: Props) {
  const form = useFieldForm(host ? draftOf(host) : EMPTY, validateDraft, async (draft) => {
    const body = bodyOf(draft);
    if (host) await api.put("/api/container-hosts/{id}", { path: { id: host.id }, body });
    else await api.post("/api/container-hosts", { body });
    onKept();
  });
  return (
    <SheetForm
      class="host-form"
      label={host ? `Edit ${host.label}` : "New container host"}
      testid="container-host"
      onSubmit={form.submit}
      onClose={onClose}
      problem={form.problem}
      busy={form.busy}
      action="Save"
      pending="Saving…"
      actionTestid="container-host-save"
      note="Changes apply to new containers only."
      noValidate
    >
      <TextRow form="container-host" of={form} name="label" label="Name" hint="shown in lists" />
      <SelectRow of={form} name="engine" label="Engine" choices={ENGINES} />
      <TextRow
        form="container-host"
        of={form}
        name="image"
        label="Image"
        hint={`needs a shell and tmux 3.2 or later; you can build ${DEFAULT_IMAGE} here`}
      />
      <Limits of={form} />
      <SelectRow of={form} name="mountCredentials" label="Agent credentials" choices={CREDENTIALS} />
      <More of={form} />
    </SheetForm>
  );
}
