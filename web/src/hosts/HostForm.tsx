/** The form of an SSH host. */
import type { RemoteHost } from "../api/types.ts";
import { clis } from "../store/state.ts";
import { FormRow } from "../ui/FormRow.tsx";
import { Problem } from "../ui/Problem.tsx";
import { TextRow } from "../ui/TextRow.tsx";
import { type FieldForm, useFieldForm } from "../ui/useFieldForm.ts";
import { useFirstField } from "../ui/useFirstField.ts";
import { addHost, changeHost } from "./calls.ts";
import { bodyOf, type Draft, draftOf, EMPTY, problemsOf } from "./words.ts";

interface Props {
  /** The one to change; absent: a new one. */
  host?: RemoteHost;
  onClose: () => void;
  onKept: (id: string) => void;
}

type Form = FieldForm<Draft>;

function Where({ of }: { of: Form }) {
  return (
    <>
      <TextRow form="host" of={of} name="label" label="Name" hint="as people read it" />
      <div class="far-pair">
        <TextRow form="host" of={of} name="host" label="Host" placeholder="build.lan" />
        <TextRow form="host" of={of} name="port" label="Port" numeric />
      </div>
      <TextRow form="host" of={of} name="username" label="User" hint="there" />
      <TextRow
        form="host"
        of={of}
        name="identityFile"
        label="Key"
        hint="a file on the service’s machine; empty: its agent’s"
        placeholder="~/.ssh/id_ed25519"
      />
    </>
  );
}

function Way({ of }: { of: Form }) {
  return (
    <details
      class="far-more"
      open={of.wrong["jumpHost"] !== undefined || of.wrong["extraSshOptions"] !== undefined}
    >
      <summary>The way there</summary>
      <TextRow
        form="host"
        of={of}
        name="jumpHost"
        label="Jump host"
        hint="several joined by commas"
        placeholder="me@gate.example.org:22"
      />
      <TextRow
        form="host"
        of={of}
        name="extraSshOptions"
        label="Options of ssh"
        hint="KEY=VALUE, one a line"
        placeholder="Compression=yes"
        rows={3}
      />
    </details>
  );
}

function Wake({ of }: { of: Form }) {
  return (
    <details
      class="far-more"
      open={of.wrong["wakeMac"] !== undefined || of.wrong["wakeCommand"] !== undefined}
    >
      <summary>Waking it</summary>
      <TextRow
        form="host"
        of={of}
        name="wakeMac"
        label="Address of its network card"
        hint="woken by a packet; up to four, joined by commas"
        placeholder="52:54:00:12:34:56"
      />
      <TextRow
        form="host"
        of={of}
        name="wakeCommand"
        label="Or a program that wakes it"
        hint="on the service’s machine, without arguments"
        placeholder="/usr/local/bin/wake-build"
      />
    </details>
  );
}

/** One field a CLI: what to run there in place of its usual program. */
function Programs({ of }: { of: Form }) {
  const { commands } = of.draft;
  const modes = new Set([
    ...clis.value.filter(({ enabled }) => enabled).map(({ id }) => id),
    ...Object.keys(commands),
  ]);
  const labelOf = (mode: string) => clis.value.find(({ id }) => id === mode)?.label ?? mode;
  return (
    <details class="far-more" open={of.wrong["commands"] !== undefined}>
      <summary>Programs there</summary>
      {of.wrong["commands"] !== undefined && (
        <p class="field-problem" role="alert" data-testid="wrong-commands">
          {of.wrong["commands"]}
        </p>
      )}
      {[...modes].map((mode) => (
        <FormRow key={mode} form="host-command" name={mode} label={labelOf(mode)} problem={undefined}>
          {(tied) => (
            <input
              class="field code"
              value={commands[mode] ?? ""}
              placeholder="its usual program"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              onInput={(event) => of.set({ commands: { ...commands, [mode]: event.currentTarget.value } })}
              {...tied}
            />
          )}
        </FormRow>
      ))}
    </details>
  );
}

export function HostForm({ host, onClose, onKept }: Props) {
  const ref = useFirstField();
  const form = useFieldForm(host ? draftOf(host) : EMPTY, problemsOf, async (draft) => {
    const body = bodyOf(draft);
    onKept((await (host ? changeHost(host.id, body) : addHost(body))).host.id);
  });
  return (
    <form
      ref={ref}
      class="sheet far-form"
      aria-label={host ? `Change ${host.label}` : "New SSH host"}
      onSubmit={(event) => void form.submit(event)}
      noValidate
      data-testid="host-form"
    >
      <Where of={form} />
      <Way of={form} />
      <Wake of={form} />
      <Programs of={form} />
      <Problem text={form.problem} testid="host-problem" />
      <div class="sheet-foot">
        <small>
          It needs sshd, a POSIX shell and tmux 3.2 or later, and a key that opens it without a question.
        </small>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={form.busy} data-testid="host-save">
          {form.busy ? "Saving…" : "Save and check"}
        </button>
      </div>
    </form>
  );
}
