/** What makes a session. */
import type { ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { StageFrame } from "../../ui/pages/StageFrame.tsx";
import type { ModelField } from "../models/ModelField.tsx";
import { readStored } from "../../lib/stored.ts";
import { activeSession, clis, cliOf, sessions, settings } from "../../store/state.ts";
import { isComposing } from "../../ui/composing.ts";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { showError } from "../../store/toasts.ts";
import { Modes } from "./AgentChoice.tsx";
import { FirstPrompt, More } from "./FirstPrompt.tsx";
import { FolderChoice, FolderNote, TrustNote } from "./FolderChoice.tsx";
import {
  type Draft,
  firstDraft,
  newSessionPlace,
  parseRemembered,
  recentFolders,
  REMEMBERED_KEY,
  nameBranch,
  suggestBranch,
} from "./newsession.ts";
import { startDraft } from "./startdraft.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { TRUSTED_MODE } from "./status.ts";

const START_KEYS = "Ctrl+Enter";

function useDraft() {
  const kept = parseRemembered(readStored(REMEMBERED_KEY));
  // What comes to the front while the dialog is open changes nothing.
  const [inFront] = useState(() => activeSession.peek());
  const first = firstDraft(clis.value, kept, settings.value, inFront);
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
      if (!(await startDraft(draft, kept))) return setBusy(false);
      newSessionOpen.value = false;
    } catch (error) {
      setProblem(formatError(error));
      setBusy(false);
    }
  };
  return {
    draft,
    set,
    submit,
    problem,
    busy,
    kept,
    folders: recentFolders(kept, sessions.value, settings.value),
  };
}

/** Only where an agent takes the models of endpoints, and somebody may have named one. */
function Model({ mode, ...props }: { mode: string } & ComponentProps<typeof ModelField>) {
  const offered = settings.value.customModelEndpointsEnabled === true && cliOf(mode)?.customModel === true;
  return offered ? <ModelSlot {...props} /> : null;
}

const ModelSlot = lazySlot(async () => (await import("../models/ModelField.tsx")).ModelField, {
  failed: (error) => showError("Couldn't load the models", error),
});

export function NewSession() {
  useEffect(() => () => void (newSessionPlace.value = undefined), []);
  const { draft, set, submit, problem, busy, kept, folders } = useDraft();
  const [unnamed] = useState(() => nameBranch(new Date()));
  const suggested = suggestBranch(draft.prompt, unnamed);
  const entry = cliOf(draft.mode);
  const agent = entry?.kind === "agent" ? entry : undefined;
  const close = () => (newSessionOpen.value = false);
  const writePrompt = (prompt: string) => {
    // A branch that nobody named follows what is to be done on it.
    const follows = draft.branch === suggested;
    set({ prompt, ...(follows && { branch: suggestBranch(prompt, unnamed) }) });
  };
  const submitted = (event: Event) => {
    event.preventDefault();
    if (!busy && draft.mode !== "") void submit();
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !isComposing(event)) submitted(event);
  };
  return (
    <StageFrame as="new" title="New session" onClose={close} class="new-session" testid="new-session">
      <form onSubmit={submitted} onKeyDown={key}>
        {agent && <FirstPrompt prompt={draft.prompt ?? ""} onPrompt={writePrompt} />}
        <Modes
          chosen={draft.mode}
          elsewhere={draft.elsewhere !== undefined}
          onChoose={(mode) => set({ mode, customModel: undefined, params: {} })}
        />
        <FolderChoice
          draft={draft}
          recent={folders}
          suggested={suggested}
          wanted={kept.worktrees.includes(draft.workingDir)}
          onChoose={set}
        />
        {agent && <FolderNote draft={draft} />}
        {agent?.id === TRUSTED_MODE && <TrustNote agent={agent.label} />}
        <Model
          mode={draft.mode}
          chosen={draft.customModel}
          onChoose={(customModel) => set({ customModel })}
        />
        <More agent={agent} draft={draft} onChange={set} />
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
            <kbd>{START_KEYS}</kbd>
          </button>
        </div>
      </form>
    </StageFrame>
  );
}
