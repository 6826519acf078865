import { shortenPath } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";

/** More than a row of them is no shortcut any more. */
const SHOWN = 4;

interface Props {
  folders: readonly string[];
  /** What the field holds: it is not offered again. */
  chosen: string;
  onChoose: (folder: string) => void;
}

/** Folders used before, to choose with one press. */
export function Folders({ folders, chosen, onChoose }: Props) {
  const offered = folders.filter((folder) => folder !== chosen).slice(0, SHOWN);
  if (offered.length === 0) return null;
  return (
    <div class="chips" role="group" aria-label="Recent folders">
      {offered.map((folder) => (
        <button type="button" class="chip" key={folder} title={folder} onClick={() => onChoose(folder)}>
          <Icon name="folder" size={14} />
          {shortenPath(folder)}
        </button>
      ))}
    </div>
  );
}
