/** What makes a session. */
import type { ComponentProps, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import type { CliItem } from "../../api/types.ts";
import { StageFrame } from "../../ui/pages/StageFrame.tsx";
import type { PickerProps } from "../cases/Picker.tsx";
import type { ModelField } from "../models/ModelField.tsx";
import { readStored, writeStored } from "../../lib/stored.ts";
import { clis, cliOf, sessions, settings } from "../../store/state.ts";
import { currentView } from "../terminal/current.ts";
import { copyText } from "../../ui/clipboard.ts";
import { restoreDefaultFocus } from "../../ui/defaultfocus.ts";
import { Icon } from "../../ui/Icon.tsx";
import { showError, showToast } from "../../store/toasts.ts";
import { plural } from "../../lib/format.ts";
import { sendPrompt, writeDraft } from "../prompt/state.ts";
import { create } from "./actions.ts";
import { FirstPrompt, Params } from "./FirstPrompt.tsx";
import { FolderNote, TrustNote } from "./FolderNote.tsx";
import {
  bodyOf,
  canLaunch,
  choices,
  type Draft,
  firstDraft,
  newSessionPlace,
  parseRemembered,
  recentFolders,
  remember,
  REMEMBERED_KEY,
} from "./newsession.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { TRUSTED_MODE } from "./status.ts";

type ModelProps = ComponentProps<typeof ModelField>;

async function copyCommand(entry: CliItem): Promise<void> {
  if (await copyText(entry.installCommand ?? ""))
    showToast("good", "Copied", `Run it to install ${entry.label}.`);
}

interface ChoiceProps {
  entry: CliItem;
  chosen: boolean;
  elsewhere: boolean;
  onChoose: () => void;
}

function Choice({ entry, chosen, elsewhere, onChoose }: ChoiceProps) {
  // Programs are looked for there, when the session starts.
  const ready = elsewhere || canLaunch(entry);
  return (
    <div class="choice" data-chosen={chosen} data-ready={ready} data-testid={`mode-${entry.id}`}>
      <label>
        <input
          type="radio"
          name="mode"
          value={entry.id}
          checked={chosen}
          disabled={!ready}
          onChange={onChoose}
        />
        <span class="badge">{entry.shortBadge}</span>
        <span class="choice-label">
          {entry.label}
          <small>{entry.kind === "shell" ? "plain shell" : ready ? "agent" : "not installed"}</small>
        </span>
      </label>
      {!ready && entry.installCommand && (
        <button
          type="button"
          class="install"
          title="Copy install command"
          onClick={() => void copyCommand(entry)}
        >
          <code>{entry.installCommand}</code>
          <Icon name="copy" size={15} />
        </button>
      )}
    </div>
  );
}

interface FieldProps {
  label: string;
  hint: string;
  value: string;
  placeholder: string;
  testid: string;
  onInput: (value: string) => void;
}

function TextField({ label, hint, value, placeholder, testid, onInput }: FieldProps) {
  return (
    <label class="labelled">
      <span>
        {label} <small>{hint}</small>
      </span>
      <input
        class="field"
        type="text"
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        data-testid={testid}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

/** Should it not arrive, it stands in the session's prompt box. */
function begin(id: string, prompt: string): void {
  writeDraft(id, prompt);
  void sendPrompt(id);
}

interface ModesProps {
  chosen: string;
  /** The session is to run on another machine, of whose programs nothing is known here. */
  elsewhere: boolean;
  onChoose: (mode: string) => void;
}

/** Those that are here in a row; the rest behind one line, with how to get them. */
function Modes({ chosen, elsewhere, onChoose }: ModesProps) {
  const offered = choices(clis.value);
  const there = (entry: CliItem) => elsewhere || canLaunch(entry);
  const [here, missing] = [offered.filter(there), offered.filter((entry) => !there(entry))];
  const show = (entry: CliItem) => (
    <Choice
      key={entry.id}
      entry={entry}
      chosen={chosen === entry.id}
      elsewhere={elsewhere}
      onChoose={() => onChoose(entry.id)}
    />
  );
  return (
    <fieldset class="choices">
      <legend>What should run?</legend>
      {here.map(show)}
      {missing.length > 0 && (
        <details class="choices-missing" open={here.length === 0}>
          <summary data-testid="modes-missing">
            {plural(missing.length, "more agent")} you can install
          </summary>
          <div class="choices">{missing.map(show)}</div>
        </details>
      )}
    </fieldset>
  );
}

function useDraft() {
  const kept = parseRemembered(readStored(REMEMBERED_KEY));
  const first = firstDraft(clis.value, kept, settings.value);
  const [changes, setChanges] = useState<Partial<Draft>>(newSessionPlace.peek() ?? {});
  // The list of CLIs may come after the dialog has opened.
  const draft: Draft = { ...first, ...changes };
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Draft>) => {
    setProblem("");
    setChanges((before) => ({ ...before, ...part }));
  };
  const submit = async () => {
    setBusy(true);
    try {
      const made = await create(bodyOf(draft, currentView.peek()?.grid));
      if (!made) return setBusy(false);
      const prompt = cliOf(made.mode)?.kind === "agent" ? draft.prompt?.trim() : "";
      if (prompt) begin(made.id, prompt);
      writeStored(REMEMBERED_KEY, JSON.stringify(remember(kept, draft)));
      newSessionOpen.value = false;
      // Behind the dialog's own return of the focus: whoever makes a session wants to type there.
      setTimeout(restoreDefaultFocus);
    } catch (error) {
      setProblem(formatError(error));
      setBusy(false);
    }
  };
  return { draft, set, submit, problem, busy, folders: recentFolders(kept, sessions.value, settings.value) };
}

/** The folder picker, whose code comes with the first dialog; the field above it works before. */
function Place(props: PickerProps) {
  const [Picker, setPicker] = useState<ComponentType<PickerProps>>();
  useEffect(() => {
    let alive = true;
    import("../cases/Picker.tsx").then(
      ({ Picker: loaded }) => alive && setPicker(() => loaded),
      (error: unknown) => showError("Couldn't load the folders", error),
    );
    return () => {
      alive = false;
    };
  }, []);
  return Picker ? <Picker {...props} /> : <div class="picker-place" aria-busy="true" />;
}

/** Only where an agent takes the models of endpoints, and somebody may have named one. */
function Model({ mode, ...props }: { mode: string } & ModelProps) {
  const [Loaded, setLoaded] = useState<ComponentType<ModelProps>>();
  const offered = settings.value.customModelEndpointsEnabled === true && cliOf(mode)?.customModel === true;
  useEffect(() => {
    if (!offered || Loaded) return;
    import("../models/ModelField.tsx").then(
      ({ ModelField }) => setLoaded(() => ModelField),
      (error: unknown) => showError("Couldn't load the models", error),
    );
  }, [offered]);
  return offered && Loaded ? <Loaded {...props} /> : null;
}

export function NewSession() {
  useEffect(() => () => void (newSessionPlace.value = undefined), []);
  const { draft, set, submit, problem, busy, folders } = useDraft();
  const entry = cliOf(draft.mode);
  const agent = entry?.kind === "agent" ? entry : undefined;
  const close = () => (newSessionOpen.value = false);
  const submitted = (event: Event) => {
    event.preventDefault();
    if (!busy && draft.mode !== "") void submit();
  };
  return (
    <StageFrame as="new" title="New session" onClose={close} class="new-session" testid="new-session">
      <form onSubmit={submitted}>
        <Modes
          chosen={draft.mode}
          elsewhere={draft.elsewhere !== undefined}
          onChoose={(mode) => set({ mode, customModel: undefined, params: {} })}
        />
        {agent && <FirstPrompt prompt={draft.prompt ?? ""} onPrompt={(prompt) => set({ prompt })} />}
        <TextField
          label="Folder"
          hint={draft.elsewhere ?? "on the server"}
          value={draft.workingDir}
          placeholder={settings.value.defaultWorkingDir || "home folder"}
          testid="new-folder"
          onInput={(workingDir) => set({ workingDir, caseName: "", elsewhere: undefined, branch: "" })}
        />
        <Place
          recent={folders}
          chosen={{
            workingDir: draft.workingDir,
            caseName: draft.caseName ?? "",
            branch: draft.branch ?? "",
          }}
          onChoose={set}
        />
        {agent && <FolderNote draft={draft} />}
        {agent?.id === TRUSTED_MODE && <TrustNote agent={agent.label} />}
        <Model
          mode={draft.mode}
          chosen={draft.customModel}
          onChoose={(customModel) => set({ customModel })}
        />
        {agent && <Params entry={agent} params={draft.params ?? {}} onChange={(params) => set({ params })} />}
        <TextField
          label="Name"
          hint="optional"
          value={draft.name}
          placeholder="named automatically"
          testid="new-name"
          onInput={(name) => set({ name })}
        />
        <div class="dialog-foot">
          {problem !== "" && (
            <p class="problem" role="alert" data-testid="new-problem">
              <Icon name="alert" /> {problem}
            </p>
          )}
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class="button primary"
            disabled={busy || draft.mode === ""}
            data-testid="new-start"
          >
            {busy ? "Starting…" : "Start"}
          </button>
        </div>
      </form>
    </StageFrame>
  );
}
