/** Where a new session works: chosen, made or cloned, without a path to be typed. */
import { Button } from "../../ui/Button.tsx";
import { useState, useEffect } from "preact/hooks";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { api } from "../../api/client.ts";
import {
  filterFolderChoices,
  type FolderChoice,
  listFolderChoices,
  runsElsewhere,
  describeCaseKind,
} from "./rules.ts";
import { caseList, keepCase } from "./state.ts";
import type { CaseResponse, BrowsedFolderResponse } from "../../api/types.ts";
import { useRead, useResource } from "../../store/resource.ts";
import { showError } from "../../store/toasts.ts";
import { Segments } from "./Segments.tsx";
import { BrowsePane } from "./BrowsePane.tsx";
import { ClonePane } from "./ClonePane.tsx";
import { isAdmin } from "../../store/me.ts";
import { CaseHostPane } from "./CaseHostPane.tsx";
import { CreatePane } from "./CreatePane.tsx";
import { onServerEvent } from "../../api/stream/events.ts";
import "./picker.css";

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

interface FolderListProps {
  recent: readonly string[];
  cases: readonly CaseResponse[] | undefined;
  chosen: { workingDir: string; caseName: string };
  onChoose: (place: FolderChoice) => void;
}

export function FolderList({ recent, cases, chosen, onChoose }: FolderListProps) {
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

/** What was chosen: a case goes by its name, any other folder by its path. */
export interface Choice {
  workingDir: string;
  caseName: string;
  /** Where the case's sessions run, if not on the service's machine. */
  elsewhere?: string | undefined;
}

export interface PickerProps {
  /** Folders used before, the last one first. */
  recent: readonly string[];
  chosen: Pick<Choice, "workingDir" | "caseName">;
  onChoose: (choice: Partial<Choice>) => void;
}

const WAYS = [
  ["known", "Recent"],
  ["browse", "Browse"],
  ["make", "New"],
  ["clone", "Clone"],
] as const;
const ELSEWHERE = ["elsewhere", "Remote"] as const;

type Way = (typeof WAYS)[number][0] | (typeof ELSEWHERE)[0];

export function Picker({ recent, chosen, onChoose }: PickerProps) {
  const [way, setWay] = useState<Way>("known");
  const cases = useResource(caseList);
  const folder = (workingDir: string) => onChoose({ workingDir, caseName: "", elsewhere: undefined });
  const take = (each: CaseResponse) => {
    keepCase(each);
    const elsewhere = runsElsewhere(each) ? describeCaseKind(each) : undefined;
    onChoose({ workingDir: each.path, caseName: each.name, elsewhere });
    setWay("known");
  };
  useEffect(() => {
    const end = onServerEvent("case:deleted", (data) => {
      // A case that is gone is no choice; its folder may still be one.
      if ((data as { name?: unknown }).name === chosen.caseName)
        onChoose({ caseName: "", elsewhere: undefined });
    });
    return () => void end();
  }, [chosen.caseName]);
  return (
    <div class="picker" data-testid="picker">
      <Segments
        label="How to choose the folder"
        choices={isAdmin.value ? [...WAYS, ELSEWHERE] : WAYS}
        chosen={way}
        onChoose={setWay}
      />
      <div class="picker-pane">
        {way === "known" && (
          <FolderList
            recent={recent}
            cases={cases}
            chosen={chosen}
            onChoose={(place) =>
              onChoose({
                workingDir: place.path,
                caseName: place.caseName ?? "",
                elsewhere: place.elsewhere,
              })
            }
          />
        )}
        {way === "browse" && <BrowsePane from={chosen.workingDir} onChoose={folder} onMade={take} />}
        {way === "make" && <CreatePane cases={cases ?? []} onMade={take} />}
        {way === "clone" && <ClonePane cases={cases ?? []} onMade={take} />}
        {way === "elsewhere" && <CaseHostPane cases={cases ?? []} onMade={take} />}
      </div>
    </div>
  );
}
