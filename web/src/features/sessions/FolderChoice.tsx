/** Where a session works: a chip with the last choice, its own worktree, and what the folder brings. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { readFolderTrust } from "../../api/calls.ts";
import type { FolderTrust } from "../../api/types.ts";
import { shortenPath } from "../../lib/format.ts";
import { settings } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Worktree } from "../cases/Worktree.tsx";
import { type Draft, folderWords, placeOf } from "./newsession.ts";

/** The field above it works before its code has come. */
const Picker = lazySlot(async () => (await import("../cases/Picker.tsx")).Picker, {
  failed: (error) => showError("Couldn't load the folders", error),
  waiting: () => <div class="picker-place" aria-busy="true" />,
});

/** @returns whether a folder of this machine is the top of a repository; false until that is known. */
function useRepository(folder: string, elsewhere: boolean): boolean {
  const [found, setFound] = useState({ folder: "", isRepository: false });
  useEffect(() => {
    if (folder === "" || elsewhere) return;
    const end = new AbortController();
    const timer = setTimeout(() => {
      api.get("/api/cases/browse", { query: { path: folder }, signal: end.signal }).then(
        ({ isRepository }) => setFound({ folder, isRepository }),
        // A folder that is not there is told by the start.
        () => undefined,
      );
    }, RESTS_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [folder, elsewhere]);
  return !elsewhere && found.folder === folder && found.isRepository;
}

interface Props {
  draft: Draft;
  /** Folders used before, the last one first. */
  recent: readonly string[];
  /** What a branch would be called. */
  suggested: string;
  /** The last session in this folder had a worktree. */
  wanted: boolean;
  onChoose: (part: Partial<Draft>) => void;
}

export function FolderChoice({ draft, recent, suggested, wanted, onChoose }: Props) {
  const [open, setOpen] = useState(false);
  const usual = settings.value.defaultWorkingDir || "home folder";
  const isRepository = useRepository(draft.workingDir.trim(), draft.elsewhere !== undefined);
  const choose = (part: Partial<Draft>) => onChoose({ ...part, branch: undefined });
  useEffect(() => {
    if (isRepository && wanted && draft.branch === undefined) onChoose({ branch: suggested });
  }, [isRepository, wanted]);
  return (
    <div class="folder-choice">
      <button
        type="button"
        class="chip folder-chip"
        aria-expanded={open}
        title={draft.workingDir || usual}
        onClick={() => setOpen(!open)}
        data-testid="new-place"
      >
        <Icon name={isRepository ? "branch" : "folder"} size={16} />
        <span>{draft.caseName || shortenPath(draft.workingDir || usual)}</span>
        {draft.elsewhere && <small>{draft.elsewhere}</small>}
        <Icon name={open ? "up" : "down"} size={14} />
      </button>
      {open && (
        <div class="folder-pane">
          <label class="labelled">
            <span>
              Folder <small>{draft.elsewhere ?? "on the server"}</small>
            </span>
            <PlainInput
              value={draft.workingDir}
              placeholder={usual}
              testid="new-folder"
              onText={(workingDir) => choose({ workingDir, caseName: "", elsewhere: undefined })}
            />
          </label>
          <Picker
            recent={recent}
            chosen={{ workingDir: draft.workingDir, caseName: draft.caseName ?? "" }}
            onChoose={choose}
          />
        </div>
      )}
      {isRepository && (
        <Worktree
          branch={draft.branch ?? ""}
          suggested={suggested}
          onBranch={(branch) => onChoose({ branch })}
        />
      )}
    </div>
  );
}

/** Typing a path asks about none of its beginnings. */
const RESTS_MS = 400;

/** Said before the start: nobody is asked then. */
export function TrustNote({ agent }: { agent: string }) {
  return (
    <p class="dim" data-testid="new-trust">
      {agent} will trust this folder. The server answers its question for you.
    </p>
  );
}

export function FolderNote({ draft }: { draft: Draft }) {
  const [found, setFound] = useState<FolderTrust>();
  const place = new URLSearchParams(placeOf(draft)).toString();
  useEffect(() => {
    setFound(undefined);
    if (draft.mode === "") return;
    const end = new AbortController();
    const timer = setTimeout(() => {
      // A folder that is not there is told by the start.
      readFolderTrust(place, end.signal).then(setFound, () => undefined);
    }, RESTS_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [place]);
  const words = found && folderWords(found);
  if (!words) return null;
  return (
    <details class="folder-note" data-state={found.state} data-testid="new-folder-trust">
      <summary>
        <Icon name={found.state === "asks" ? "alert" : "check"} size={16} /> {words}
      </summary>
      <pre tabIndex={0}>{found.summary}</pre>
    </details>
  );
}
