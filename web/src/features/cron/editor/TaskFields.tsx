/** What a job runs and where. */
import { canLaunch, choices } from "../../sessions/newsession.ts";
import { Folders } from "../../sessions/Folders.tsx";
import { clis } from "../../../store/state.ts";
import { offeredFolders } from "./editing.ts";
import { LINE_MAX, isShellMode } from "../jobs/job.ts";
import { Row } from "./rows.tsx";
import type { EditorState } from "./useEditor.ts";

const FOLDER_LIST = "job-folders";

function AgentField({ state: { draft, set, problems } }: { state: EditorState }) {
  const entries = choices(clis.value);
  const known = entries.some((entry) => entry.id === draft.agentType);
  return (
    <Row name="agentType" label="Agent" problem={problems.agentType}>
      {(tied) => (
        <select
          {...tied}
          class="field"
          value={draft.agentType}
          onChange={(event) => set({ agentType: event.currentTarget.value })}
        >
          {!known && <option value={draft.agentType}>{draft.agentType || "Choose an agent"}</option>}
          {entries.map((entry) => (
            <option key={entry.id} value={entry.id}>
              {entry.label}
              {!canLaunch(entry) && " (not installed)"}
            </option>
          ))}
        </select>
      )}
    </Row>
  );
}

function FolderField({ state: { draft, set, problems } }: { state: EditorState }) {
  const folders = offeredFolders();
  return (
    <Row
      name="workingDir"
      label="Folder"
      hint="on the server"
      problem={problems.workingDir}
      after={
        <Folders folders={folders} chosen={draft.workingDir} onChoose={(workingDir) => set({ workingDir })} />
      }
    >
      {(tied) => (
        <>
          <input
            {...tied}
            class="field"
            value={draft.workingDir}
            list={FOLDER_LIST}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="/home/…"
            onInput={(event) => set({ workingDir: event.currentTarget.value })}
          />
          <datalist id={FOLDER_LIST}>
            {folders.map((folder) => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
        </>
      )}
    </Row>
  );
}

function CommandField({ state: { draft, set, problems } }: { state: EditorState }) {
  return (
    <Row
      name="launchCommand"
      label="Command"
      hint="optional; runs before the input"
      problem={problems.launchCommand}
    >
      {(tied) => (
        <input
          {...tied}
          class="field code"
          value={draft.launchCommand}
          maxLength={LINE_MAX}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="psql billing"
          onInput={(event) => set({ launchCommand: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

export function TaskFields({ state }: { state: EditorState }) {
  return (
    <>
      <AgentField state={state} />
      <FolderField state={state} />
      {isShellMode(state.draft.agentType) && <CommandField state={state} />}
    </>
  );
}
