/** The CLIs that sessions can run. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { api } from "../../api/client.ts";
import { getErrorText } from "../../api/errors.ts";
import { Field } from "../settings/fields.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import type { CliItem, CliFile } from "../../api/types.ts";
import {
  bodyOf,
  commandLine,
  type Draft,
  draftOf,
  EMPTY,
  validateDraft,
  addAdvice,
  describeSearch,
  describeInstallPlan,
  describeInstallState,
  describePath,
  describeFileProblem,
} from "./texts.ts";
import { useState } from "preact/hooks";
import { askQuestion } from "../../ui/ask.ts";
import { isWithinReach } from "../sessions/newsession.ts";
import { type Clis, useClis } from "./useClis.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import "./clis.css";

const FIELDS: [Exclude<keyof Draft, "others">, string, string, number][] = [
  ["label", "Name", "shown in lists", 60],
  ["id", "Id", "used by scripts as the mode", 24],
  ["badge", "Badge", "up to 6 characters, shown in lists", 6],
  ["program", "Program", "its name on PATH", 200],
  ["words", "Arguments", "separated by spaces, passed without a shell", 1000],
];

interface CliFormProps {
  /** The custom entry to change; absent: a new one. */
  cli?: CliItem;
  onClose: () => void;
  onMade: () => void;
}

export function CliForm({ cli, onClose, onMade }: CliFormProps) {
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
          <PlainInput
            value={draft[name]}
            readOnly={name === "id" && cli !== undefined}
            maxLength={most}
            onText={(text) => set({ [name]: text })}
            testid={`new-cli-${name}`}
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

interface CliRowProps {
  cli: CliItem;
  page: Clis;
}

function Installing({ cli, page }: CliRowProps) {
  return (
    <div class="cli-install" data-testid="cli-installing">
      <pre class="example" aria-label={`Install output of ${cli.label}`} tabIndex={0}>
        {page.installs[cli.id] || "Waiting for output…"}
      </pre>
      <Button small onClick={() => void page.cancel(cli.id)} testid="cli-cancel">
        Cancel install
      </Button>
    </div>
  );
}

async function install({ cli, page }: CliRowProps): Promise<void> {
  const plan = await api.get("/api/clis/{id}/install", { path: { id: cli.id } });
  const agreed = await askQuestion({
    title: `Install ${cli.label}?`,
    text: describeInstallPlan(plan),
    action: "Install",
    preview: plan.command,
  });
  if (agreed !== undefined) void page.install(cli.id);
}

async function remove({ cli, page }: CliRowProps): Promise<void> {
  const agreed = await askQuestion({
    title: `Remove ${cli.label}?`,
    text: "You can't start new sessions with it. Running sessions keep running.",
    action: "Remove",
    danger: true,
  });
  if (agreed !== undefined) await page.attempt(() => api.delete("/api/clis/{id}", { path: { id: cli.id } }));
}

function Actions({ cli, page, onEdit }: CliRowProps & { onEdit: () => void }) {
  const running = cli.id in page.installs;
  return (
    <span class="cli-actions">
      {!cli.installed && cli.installCommand && !running && (
        <Button
          small
          disabled={page.busy}
          onClick={() => void page.attempt(() => install({ cli, page }))}
          testid="cli-install"
        >
          Install…
        </Button>
      )}
      {!cli.stock && (
        <Button small label={`Edit ${cli.label}`} disabled={page.busy} onClick={onEdit} testid="cli-edit">
          Edit
        </Button>
      )}
      {!cli.stock && (
        <Button
          small
          label={`Remove ${cli.label}`}
          disabled={page.busy}
          onClick={() => void remove({ cli, page })}
          testid="cli-remove"
        >
          Remove
        </Button>
      )}
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-label={`Offer ${cli.label} for new sessions`}
        checked={cli.enabled}
        disabled={page.busy || cli.kind === "shell"}
        onChange={(event) => {
          const enabled = event.currentTarget.checked;
          void page.attempt(() => api.put("/api/clis/{id}", { path: { id: cli.id }, body: { enabled } }));
        }}
        data-testid="cli-switch"
      />
    </span>
  );
}

interface Look {
  folders: readonly string[];
  problem: string | undefined;
}

function LookedIn({ folders, problem }: Look) {
  return (
    <details class="cli-looked" data-testid="cli-looked">
      <summary>{describeSearch(folders)}</summary>
      {problem && <p>Couldn't read the login shell's PATH: {problem}</p>}
      <ul>
        {folders.map((folder) => (
          <li key={folder}>{folder}</li>
        ))}
      </ul>
    </details>
  );
}

function CliRow({ cli, page }: CliRowProps) {
  const [editing, setEditing] = useState(false);
  const made = () => {
    setEditing(false);
    void page.attempt();
  };
  if (editing)
    return (
      <li>
        <CliForm cli={cli} onClose={() => setEditing(false)} onMade={made} />
      </li>
    );
  return (
    <li class="record cli" data-off={!cli.enabled} data-testid="cli" data-cli={cli.id}>
      <span class="record-mark" data-tone={cli.installed ? "accent" : undefined} aria-hidden="true">
        <small>{cli.shortBadge}</small>
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{cli.label}</strong>
          <span class="tag" data-tone={cli.installed ? "accent" : "plain"}>
            {describeInstallState(cli)}
          </span>
          {!cli.stock && <span class="tag">custom</span>}
        </span>
        <small class="cli-path">{describePath(cli)}</small>
        {cli.lookedIn && <LookedIn folders={cli.lookedIn} problem={cli.loginShellProblem} />}
        {cli.argv && (
          <small class="cli-path" data-testid="cli-command">
            runs {commandLine(draftOf(cli))}
          </small>
        )}
        {cli.id in page.installs && <Installing cli={cli} page={page} />}
      </div>
      {page.managed && <Actions cli={cli} page={page} onEdit={() => setEditing(true)} />}
    </li>
  );
}

function FileTrouble({ file, page }: { file: CliFile; page: Clis }) {
  const text = describeFileProblem(file);
  if (text === "") return null;
  return (
    <div class="cli-file" role="note" data-testid="clis-file">
      <p>
        <Icon name="alert" size={16} /> {text}
      </p>
      {page.managed &&
        file.entries.map(({ id }) => (
          <Button
            key={id}
            small
            disabled={page.busy}
            onClick={() => void page.attempt(() => api.delete("/api/clis/{id}", { path: { id } }))}
            testid="clis-file-remove"
          >
            Remove {id}
          </Button>
        ))}
    </div>
  );
}

export function ClisPage() {
  const page = useClis();
  if (page.refused !== "") return <p class="records-none dim">{page.refused}</p>;
  const form = (close: () => void) => {
    const made = () => {
      close();
      void page.attempt();
    };
    return <CliForm onClose={close} onMade={made} />;
  };
  const edit = (
    <Button onClick={() => void page.manage()} testid="clis-manage">
      Edit list
    </Button>
  );
  return (
    <ListPage
      testid="clis"
      summary={page.managed === false ? "Editing is locked." : "Programs that sessions can run."}
      actions={page.managed === false && edit}
      add={page.managed ? { label: "New agent", testid: "new-cli", form } : undefined}
      problem={page.problem}
      busy={page.busy}
      items={page.clis?.filter(isWithinReach)}
      empty="Only admins can see this list."
      row={(cli) => <CliRow key={cli.id} cli={cli} page={page} />}
    >
      {() => page.file && <FileTrouble file={page.file} page={page} />}
    </ListPage>
  );
}
