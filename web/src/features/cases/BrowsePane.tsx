/** The folders of the service's machine: whichever is entered is the one that is chosen. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { api } from "../../api/client.ts";
import type { BrowseResponse, CaseResponse, BrowsedFolderResponse } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { InlineForm } from "./CreatePane.tsx";
import { joinPath, splitPath } from "./rules.ts";
import "./worktree.css";

interface Browsing {
  found: BrowseResponse | undefined;
  /** What was found is of the folder before the one that was entered, which is being read. */
  reading: boolean;
  /** The folder that was entered; where it cannot be read, the one that is still shown. */
  here: string | undefined;
  problem: string;
  hidden: boolean;
  enter: (path: string | undefined) => void;
  showHidden: (hidden: boolean) => void;
}

/** @param from where to begin; where that is no folder (any more), at home. */
function useBrowse(from: string): Browsing {
  const [path, enter] = useState<string | undefined>(from || undefined);
  const [answered, setAnswered] = useState<string>();
  const [hidden, showHidden] = useState(false);
  const [found, setFound] = useState<BrowseResponse>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    api.get("/api/cases/browse", { query: { path, showHidden: hidden }, signal: end.signal }).then(
      (answer) => {
        setFound(answer);
        setAnswered(path);
        setProblem("");
      },
      (error: unknown) => {
        if (end.signal.aborted) return;
        if (found === undefined && path !== undefined) enter(undefined);
        else setProblem(formatError(error));
        setAnswered(path);
      },
    );
    return () => end.abort();
  }, [path, hidden]);
  const reading = answered !== path;
  return { found, reading, here: reading ? path : found?.path, problem, hidden, enter, showHidden };
}

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
