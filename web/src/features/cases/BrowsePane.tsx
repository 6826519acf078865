/** The folders of the service's machine: whichever is entered is the one that is chosen. */
import { useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { api } from "../../api/client.ts";
import { InlineForm } from "./InlineForm.tsx";
import { joinPath, splitPath } from "./rules.ts";
import type { BrowseResponse, CaseResponse, BrowsedFolderResponse } from "../../api/types.ts";
import { useBrowse } from "./useBrowse.ts";

function Steps({ path, onEnter }: { path: string; onEnter: (path: string) => void }) {
  const steps = splitPath(path);
  return (
    <nav class="steps" aria-label="Parent folders">
      {steps.map((step, at) => (
        <button
          type="button"
          key={step.path}
          class="step"
          aria-current={at === steps.length - 1 ? "location" : undefined}
          onClick={() => onEnter(step.path)}
        >
          <bdi>{step.name}</bdi>
        </button>
      ))}
    </nav>
  );
}

function FolderRow({ folder, onEnter }: { folder: BrowsedFolderResponse; onEnter: () => void }) {
  return (
    <li class="place">
      <button type="button" class="place-button" onClick={onEnter} data-testid="browse-folder">
        <Icon name={folder.isRepository ? "branch" : "folder"} size={16} />
        <bdi class="place-label">{folder.name}</bdi>
        {folder.isRepository && <small class="place-detail">repository</small>}
        <Icon name="right" size={14} />
      </button>
    </li>
  );
}

function Listing({ found, onEnter }: { found: BrowseResponse; onEnter: (path: string) => void }) {
  return (
    <>
      {found.folders.length === 0 && <p class="picker-none">No folders here.</p>}
      <ul class="places" aria-label={`Folders in ${found.path}`}>
        {found.folders.map((folder) => (
          <FolderRow key={folder.path} folder={folder} onEnter={() => onEnter(folder.path)} />
        ))}
      </ul>
      {found.truncated && <p class="picker-none">Showing the first {found.folders.length} folders.</p>}
    </>
  );
}

interface Props {
  /** Where to begin. */
  from: string;
  onChoose: (path: string) => void;
  onMade: (made: CaseResponse) => void;
}

export function BrowsePane({ from, onChoose, onMade }: Props) {
  const { found, reading, here, problem, hidden, enter, showHidden } = useBrowse(from);
  const [naming, setNaming] = useState(false);
  const [refused, setRefused] = useState("");
  const go = (path: string) => {
    enter(path);
    onChoose(path);
  };
  const make = async (name: string) => {
    if (here === undefined) return;
    setRefused("");
    try {
      onMade((await api.post("/api/cases", { body: { name, path: joinPath(here, name) } })).case);
    } catch (error) {
      setRefused(formatError(error));
    }
  };
  return (
    <>
      <div class="browse-bar">
        <IconButton
          icon="up"
          label="Parent folder"
          disabled={reading || !found?.parent}
          onClick={() => found?.parent && go(found.parent)}
          testid="browse-up"
        />
        {found && here && <Steps path={here} onEnter={go} />}
        <IconButton
          icon="plus"
          label="New folder"
          pressed={naming}
          disabled={!found}
          onClick={() => setNaming(!naming)}
          testid="browse-new"
        />
      </div>
      {naming && (
        <InlineForm label="Name of the new folder" action="Create" problem={refused} onSubmit={make} />
      )}
      {problem !== "" && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
      {found ? <Listing found={found} onEnter={go} /> : <p class="picker-none">Loading…</p>}
      <label class="picker-check">
        <input
          type="checkbox"
          checked={hidden}
          onChange={(event) => showHidden(event.currentTarget.checked)}
        />
        Show hidden folders
      </label>
    </>
  );
}
