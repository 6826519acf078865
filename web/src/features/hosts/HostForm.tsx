/** The form of an SSH host. */
import { api } from "../../api/client.ts";
import type { RemoteHost } from "../../api/types.ts";
import { clis } from "../../store/state.ts";
import { FormRow } from "../../ui/FormRow.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { TextRow } from "../../ui/TextRow.tsx";
import { type FieldForm, useFieldForm } from "../../ui/useFieldForm.ts";
import { bodyOf, type Draft, draftOf, EMPTY, validateDraft } from "./texts.ts";

interface Props {
  /** The one to change; absent: a new one. */
  host?: RemoteHost;
  onClose: () => void;
  onKept: (id: string) => void;
}

type Form = FieldForm<Draft>;

function AddressFields({ of }: { of: Form }) {
  return (
    <>
      <TextRow form="host" of={of} name="label" label="Name" hint="shown in lists" />
      <div class="host-pair">
        <TextRow form="host" of={of} name="host" label="Host" placeholder="build.lan" />
        <TextRow form="host" of={of} name="port" label="Port" numeric />
      </div>
      <TextRow form="host" of={of} name="username" label="User" hint="on the host" />
      <TextRow
        form="host"
        of={of}
        name="identityFile"
        label="Key"
        hint="a file on the server; leave empty to use its SSH agent"
        placeholder="~/.ssh/id_ed25519"
      />
    </>
  );
}

function ConnectionFields({ of }: { of: Form }) {
  return (
    <details
      class="host-more"
      open={of.wrong["jumpHost"] !== undefined || of.wrong["extraSshOptions"] !== undefined}
    >
      <summary>Connection</summary>
      <TextRow
        form="host"
        of={of}
        name="jumpHost"
        label="Jump host"
        hint="separate several with commas"
        placeholder="me@gate.example.org:22"
      />
      <TextRow
        form="host"
        of={of}
        name="extraSshOptions"
        label="SSH options"
        hint="KEY=VALUE, one per line"
        placeholder="Compression=yes"
        rows={3}
      />
    </details>
  );
}

function WakeFields({ of }: { of: Form }) {
  return (
    <details
      class="host-more"
      open={of.wrong["wakeMac"] !== undefined || of.wrong["wakeCommand"] !== undefined}
    >
      <summary>Wake-up</summary>
      <TextRow
        form="host"
        of={of}
        name="wakeMac"
        label="MAC address"
        hint="for wake-on-LAN; up to four, separated by commas"
        placeholder="52:54:00:12:34:56"
      />
      <TextRow
        form="host"
        of={of}
        name="wakeCommand"
        label="Or a wake program"
        hint="on the server, without arguments"
        placeholder="/usr/local/bin/wake-build"
      />
    </details>
  );
}

/** One field a CLI: what to run there in place of default program. */
function ProgramFields({ of }: { of: Form }) {
  const { commands } = of.draft;
  const modes = new Set([
    ...clis.value.filter(({ enabled }) => enabled).map(({ id }) => id),
    ...Object.keys(commands),
  ]);
  const labelOf = (mode: string) => clis.value.find(({ id }) => id === mode)?.label ?? mode;
  return (
    <details class="host-more" open={of.wrong["commands"] !== undefined}>
      <summary>Programs on the host</summary>
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
              placeholder="default program"
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
  const form = useFieldForm(host ? draftOf(host) : EMPTY, validateDraft, async (draft) => {
    const body = bodyOf(draft);
    const kept = host
      ? api.put("/api/remote-hosts/{id}", { path: { id: host.id }, body })
      : api.post("/api/remote-hosts", { body });
    onKept((await kept).host.id);
  });
  return (
    <SheetForm
      class="host-form"
      label={host ? `Edit ${host.label}` : "New remote host"}
      testid="host"
      onSubmit={form.submit}
      onClose={onClose}
      problem={form.problem}
      busy={form.busy}
      action="Save and check"
      pending="Saving…"
      actionTestid="host-save"
      note="The host needs sshd, a POSIX shell, tmux 3.2 or later, and a key that needs no passphrase."
      noValidate
    >
      <AddressFields of={form} />
      <ConnectionFields of={form} />
      <WakeFields of={form} />
      <ProgramFields of={form} />
    </SheetForm>
  );
}
