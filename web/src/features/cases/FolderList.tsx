/** Recent workspaces, cases and repositories in one list. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { api } from "../../api/client.ts";
import { filterFolderChoices, type FolderChoice, listFolderChoices } from "./rules.ts";
import { caseList } from "./state.ts";
import type { CaseResponse, BrowsedFolderResponse } from "../../api/types.ts";
import { useRead } from "../../store/resource.ts";
import { showError } from "../../store/toasts.ts";

const MARKS: Record<FolderChoice["kind"], IconName> = {
  recent: "clock",
  case: "folder",
  repository: "branch",
};
/** From so many on a field to search them is worth its room. */
const SEARCHED_FROM = 6;

/** The folders at home. Who may not look there is offered the rest. */
function useHome(): readonly BrowsedFolderResponse[] {
  const home = useRead((signal) => api.get("/api/cases/browse", { signal }), []);
  return home.data?.folders ?? [];
}

async function cancel(name: string): Promise<void> {
  try {
    await api.post("/api/cases/clone/{name}/cancel", { path: { name } });
  } catch (error) {
    showError("Couldn't cancel the clone", error);
  }
}

interface RowProps {
  place: FolderChoice;
  cloning: boolean;
  chosen: boolean;
  onChoose: () => void;
}

function Row({ place, cloning, chosen, onChoose }: RowProps) {
  const name = place.caseName;
  return (
    <li class="place">
      <button
        type="button"
        class="place-button"
        aria-pressed={chosen}
        disabled={place.off !== undefined}
        title={place.path}
        onClick={onChoose}
        data-testid="place"
        data-kind={place.kind}
      >
        <Icon name={chosen ? "check" : MARKS[place.kind]} size={16} />
        <bdi class="place-label">{place.label}</bdi>
        <small class="place-detail">{place.off ?? place.detail}</small>
      </button>
      {cloning && name !== undefined && (
        <Button small onClick={() => void cancel(name)}>
          Cancel
        </Button>
      )}
    </li>
  );
}

interface Props {
  recent: readonly string[];
  cases: readonly CaseResponse[] | undefined;
  chosen: { workingDir: string; caseName: string };
  onChoose: (place: FolderChoice) => void;
}

export function FolderList({ recent, cases, chosen, onChoose }: Props) {
  const home = useHome();
  const [words, setWords] = useState("");
  const all = listFolderChoices(recent, cases ?? [], home);
  const shown = filterFolderChoices(all, words);
  const cloning = new Set(cases?.filter((each) => each.cloning).map((each) => each.name));
  return (
    <>
      {all.length >= SEARCHED_FROM && (
        <input
          class="field"
          type="search"
          placeholder="Search folders"
          aria-label="Search folders"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
          data-testid="place-search"
        />
      )}
      {caseList.trouble.value !== "" && <p class="field-problem">{caseList.trouble.value}</p>}
      {shown.length === 0 && (
        <p class="picker-none">
          {cases === undefined ? "Loading…" : "No folders yet. Browse to one or create a workspace."}
        </p>
      )}
      <ul class="places" aria-label="Folders">
        {shown.map((place) => (
          <Row
            key={`${place.path} ${place.caseName ?? ""}`}
            place={place}
            cloning={place.caseName !== undefined && cloning.has(place.caseName)}
            chosen={place.path === chosen.workingDir && (place.caseName ?? "") === chosen.caseName}
            onChoose={() => onChoose(place)}
          />
        ))}
      </ul>
    </>
  );
}
