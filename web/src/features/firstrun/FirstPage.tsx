/** From nothing to an agent that answers: which one, in which folder, and what it should do. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import { readStored } from "../../lib/stored.ts";
import { isAdmin } from "../../store/me.ts";
import { useRead, useResource } from "../../store/resource.ts";
import { clis, sessions, settings, updateNotice } from "../../store/state.ts";
import { Brand } from "../../ui/Brand.tsx";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { Problem } from "../../ui/Problem.tsx";
import type { PickerProps } from "../cases/Picker.tsx";
import { useClis } from "../clis/useClis.ts";
import { access } from "../devices/phone.ts";
import { FolderNote, TrustNote } from "../sessions/FolderChoice.tsx";
import { type Draft, parseRemembered, recentFolders, REMEMBERED_KEY } from "../sessions/newsession.ts";
import { startDraft } from "../sessions/startdraft.ts";
import { TRUSTED_MODE } from "../sessions/status.ts";
import { AgentList } from "./Agents.tsx";
import { chooseAgent, EXAMPLES, type FolderOffer, offerAgents, offerFolders } from "./firstrun.ts";
import { signIns } from "./state.ts";
import { Tips } from "./Tips.tsx";
import "../../ui/pages/styles.ts";
import "../../ui/styles/records.css";
import "../cases/picker.css";
import "./firstrun.css";

const Picker = lazySlot<PickerProps>(async () => (await import("../cases/Picker.tsx")).Picker, {
  waiting: (problem) => (problem === "" ? <div class="picker-place" aria-busy="true" /> : <p>{problem}</p>),
});

interface FoldersProps {
  offers: readonly FolderOffer[];
  searching: boolean;
  chosen: string;
  onChoose: (path: string) => void;
}

function Folders({ offers, searching, chosen, onChoose }: FoldersProps) {
  if (offers.length === 0)
    return (
      <p class="dim" data-testid="first-no-folder">
        {searching
          ? "Looking for repositories…"
          : "No repositories found in your home folder. The agent starts in your home folder."}
      </p>
    );
  return (
    <ul class="first-folders" aria-label="Folders">
      {offers.map(({ path, label, detail, isRepository }) => (
        <li key={path}>
          <button
            type="button"
            class="place-button"
            aria-pressed={path === chosen}
            title={path}
            onClick={() => onChoose(path)}
            data-testid="first-folder"
          >
            <Icon name={path === chosen ? "check" : isRepository ? "branch" : "clock"} size={16} />
            <bdi class="place-label">{label}</bdi>
            <small class="place-detail">{detail}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface PromptProps {
  prompt: string;
  onPrompt: (prompt: string) => void;
}

function Prompt({ prompt, onPrompt }: PromptProps) {
  return (
    <div class="first-step">
      <label class="labelled">
        <span class="first-legend">First prompt</span>
        <textarea
          class="field plain-text"
          rows={3}
          value={prompt}
          placeholder="What should it do?"
          onInput={(event) => onPrompt(event.currentTarget.value)}
          data-testid="first-prompt"
        />
      </label>
      <div class="chips" role="group" aria-label="Examples">
        {EXAMPLES.map(([label, text]) => (
          <button
            type="button"
            class="chip"
            key={label}
            title={text}
            onClick={() => onPrompt(text)}
            data-testid="first-example"
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}

function useFirstRun() {
  const kept = parseRemembered(readStored(REMEMBERED_KEY));
  const page = useClis();
  const states = useResource(signIns);
  const repositories = useRead((signal) => api.get("/api/cases/repositories", { signal }), []);
  const [changes, setChanges] = useState<Partial<Draft>>({});
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  // The page's own list has the versions; it is empty for who is no admin.
  const agents = offerAgents(page.clis?.length ? page.clis : clis.value, states ?? []);
  const found = repositories.data?.repositories ?? [];
  const folders = offerFolders(recentFolders(kept, sessions.value, settings.value), found);
  const draft: Draft = {
    mode: chooseAgent(agents, changes.mode ?? kept.mode ?? ""),
    workingDir: folders[0]?.path ?? "",
    name: "",
    ...changes,
  };
  const submit = async () => {
    setBusy(true);
    setProblem("");
    try {
      if (await startDraft(draft, kept)) openPage.value = undefined;
    } catch (error) {
      setProblem(formatError(error));
    }
    setBusy(false);
  };
  return {
    agents,
    busy,
    draft,
    folders,
    page,
    problem,
    searching: repositories.data === undefined && repositories.problem === "",
    set: (part: Partial<Draft>) => setChanges((before) => ({ ...before, ...part })),
    submit,
  };
}

export function FirstPage() {
  const { agents, busy, draft, folders, page, problem, searching, set, submit } = useFirstRun();
  const [other, setOther] = useState(false);
  const caller = useResource(access);
  const entry = agents.here.find((offer) => offer.entry.id === draft.mode)?.entry;
  const submitted = (event: Event) => {
    event.preventDefault();
    if (!busy && entry) void submit();
  };
  return (
    <section class="first" data-testid="empty">
      <form onSubmit={submitted} aria-labelledby="first-title" data-testid="first-run">
        <header>
          <Brand large />
          <h1 id="first-title">Start your first agent</h1>
          <p class="dim">It works in a terminal on the server and keeps running when you close this page.</p>
        </header>
        <AgentList agents={agents} page={page} chosen={draft.mode} onChoose={(mode) => set({ mode })} />
        <fieldset class="first-step">
          <legend>Folder</legend>
          <Folders
            offers={folders}
            searching={searching}
            chosen={draft.workingDir}
            onChoose={(workingDir) =>
              set({ workingDir, caseName: "", branch: undefined, elsewhere: undefined })
            }
          />
          <Button small aria-expanded={other} onClick={() => setOther(!other)} testid="first-other">
            Browse, clone or create…
          </Button>
          {other && (
            <Picker
              recent={folders.map(({ path }) => path)}
              chosen={{
                workingDir: draft.workingDir,
                caseName: draft.caseName ?? "",
              }}
              onChoose={set}
            />
          )}
          {entry && <FolderNote draft={draft} />}
          {entry?.id === TRUSTED_MODE && <TrustNote agent={entry.label} />}
        </fieldset>
        <Prompt prompt={draft.prompt ?? ""} onPrompt={(prompt) => set({ prompt })} />
        <Problem text={problem} testid="first-problem" />
        <div class="first-foot">
          <Button submit primary disabled={busy || !entry} testid="first-start">
            {busy ? "Starting…" : entry ? `Start ${entry.label}` : "Start"}
          </Button>
          <Button onClick={() => (newSessionOpen.value = true)} testid="empty-new">
            <Icon name="plus" /> More options
          </Button>
          {isAdmin.value && (
            <Button onClick={() => (openPage.value = "devices")} testid="first-phone">
              <Icon name="phone" /> Continue on your phone
            </Button>
          )}
        </div>
      </form>
      {caller?.signedIn === false && (
        <p class="dim first-open" data-testid="first-open">
          <Icon name="alert" size={15} /> No password is set: every person and program on the server's machine
          can use this page.{" "}
          {isAdmin.value && (
            <button type="button" class="link" onClick={() => (openPage.value = "devices")}>
              Set a password
            </button>
          )}
        </p>
      )}
      {updateNotice.value !== "" && <p class="dim">{updateNotice.value}</p>}
      <Tips />
    </section>
  );
}
