/** Where a new session works: chosen, made or cloned, without a path to be typed. */
import { useEffect, useState } from "preact/hooks";
import { Segments } from "./Segments.tsx";
import { BrowsePane } from "./BrowsePane.tsx";
import { ClonePane } from "./ClonePane.tsx";
import { isAdmin } from "../../store/me.ts";
import { CaseHostPane } from "./CaseHostPane.tsx";
import { runsElsewhere, describeCaseKind } from "./rules.ts";
import { CreatePane } from "./CreatePane.tsx";
import { FolderList } from "./FolderList.tsx";
import { onServerEvent } from "../../api/stream/events.ts";
import "./picker.css";
import { useResource } from "../../store/resource.ts";
import { caseList, keepCase } from "./state.ts";
import type { CaseResponse } from "../../api/types.ts";
import { Worktree } from "./Worktree.tsx";

/** What was chosen: a case goes by its name, any other folder by its path. */
export interface Choice {
  workingDir: string;
  caseName: string;
  /** Where the case's sessions run, if not on the service's machine. */
  elsewhere?: string | undefined;
  /** A worktree of the case's repository, on this branch; "" for the case's own folder. */
  branch: string;
}

export interface PickerProps {
  /** Folders used before, the last one first. */
  recent: readonly string[];
  chosen: Omit<Choice, "elsewhere">;
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
  const folder = (workingDir: string) =>
    onChoose({ workingDir, caseName: "", elsewhere: undefined, branch: "" });
  const take = (each: CaseResponse) => {
    keepCase(each);
    const elsewhere = runsElsewhere(each) ? describeCaseKind(each) : undefined;
    onChoose({ workingDir: each.path, caseName: each.name, elsewhere, branch: "" });
    setWay("known");
  };
  const found = cases?.find((each) => each.name === chosen.caseName);
  useEffect(() => {
    const end = onServerEvent("case:deleted", (data) => {
      // A case that is gone is no choice; its folder may still be one.
      if ((data as { name?: unknown }).name === chosen.caseName)
        onChoose({ caseName: "", elsewhere: undefined, branch: "" });
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
                branch: "",
              })
            }
          />
        )}
        {way === "browse" && <BrowsePane from={chosen.workingDir} onChoose={folder} onMade={take} />}
        {way === "make" && <CreatePane cases={cases ?? []} onMade={take} />}
        {way === "clone" && <ClonePane cases={cases ?? []} onMade={take} />}
        {way === "elsewhere" && <CaseHostPane cases={cases ?? []} onMade={take} />}
      </div>
      {found && !runsElsewhere(found) && (
        <Worktree branch={chosen.branch} onBranch={(branch) => onChoose({ branch })} />
      )}
    </div>
  );
}
