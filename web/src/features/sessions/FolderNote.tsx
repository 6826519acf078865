/** What the chosen folder brings that runs, before a session starts in it (protocol-folders). */
import { useEffect, useState } from "preact/hooks";
import { readFolderTrust } from "../../api/calls.ts";
import type { FolderTrust } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type Draft, folderWords, placeOf } from "./newsession.ts";

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
