/** The cases: what works in each, its branch and changes, its files, and its end. */
import { useState } from "preact/hooks";
import { isAdmin } from "../../store/me.ts";
import { activeSession } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { CaseView } from "./CaseView.tsx";
import "../../ui/styles/records.css";
import "./cases.css";
import { findCaseOfSession, formatCloneProgress, describeCaseKind } from "./rules.ts";
import { CaseHostPane } from "./CaseHostPane.tsx";
import { LinkForm } from "./LinkForm.tsx";
import { useResource } from "../../store/resource.ts";
import { caseList, keepCase } from "./state.ts";
import type { CaseResponse } from "../../api/types.ts";

function Row({ each, shown, onShow }: { each: CaseResponse; shown: boolean; onShow: () => void }) {
  return (
    <li>
      <button
        type="button"
        class="case-row"
        aria-expanded={shown}
        onClick={onShow}
        data-testid="case"
        data-case={each.name}
      >
        <Icon name={shown ? "down" : "right"} size={14} />
        <bdi class="case-name">{each.name}</bdi>
        <small>{each.cloning ? formatCloneProgress(each.cloning) : describeCaseKind(each)}</small>
        {each.unreachable && (
          <span class="tag" data-tone="warn">
            not responding
          </span>
        )}
        {each.liveSessions > 0 && (
          <span class="tag" data-tone="accent">
            {each.liveSessions} live
          </span>
        )}
      </button>
      {shown && <CaseView each={each} />}
    </li>
  );
}

export function CasesPage() {
  const cases = useResource(caseList);
  const session = activeSession.value;
  const front = session && cases ? findCaseOfSession(session, cases)?.name : undefined;
  const [chosen, setChosen] = useState<string>();
  // The case of the session in front is open until a person opens or closes one.
  const shown = chosen ?? front;
  const [adding, setAdding] = useState<"link" | "far">();
  const opener = useReturnFocus(adding === "link");
  const farOpener = useReturnFocus(adding === "far");
  const made = (name: string) => {
    setAdding(undefined);
    setChosen(name);
  };
  return (
    <div class="cases" data-testid="cases">
      {isAdmin.value && adding === undefined && (
        <div class="records-bar cases-bar">
          <span class="dim">Folders with short names.</span>
          <button
            ref={opener}
            type="button"
            class="button"
            onClick={() => setAdding("link")}
            data-testid="link-open"
          >
            <Icon name="plus" size={16} /> Link a folder
          </button>
          <button
            ref={farOpener}
            type="button"
            class="button"
            onClick={() => setAdding("far")}
            data-testid="case-host-open"
          >
            <Icon name="server" size={16} /> On another machine
          </button>
        </div>
      )}
      {adding === "link" && (
        <LinkForm cases={cases ?? []} onClose={() => setAdding(undefined)} onLinked={made} />
      )}
      {adding === "far" && (
        <section class="sheet case-host-sheet" aria-label="New workspace on another machine">
          <CaseHostPane
            cases={cases ?? []}
            onClose={() => setAdding(undefined)}
            onMade={(each) => {
              keepCase(each);
              made(each.name);
            }}
          />
        </section>
      )}
      <Problem text={caseList.trouble.value} testid="cases-problem" />
      {cases?.length === 0 && (
        <p class="cases-none">
          No workspaces yet. Create or clone one in the New session dialog, or link an existing folder.
        </p>
      )}
      <ul class="case-list" aria-label="Workspaces">
        {cases?.map((each) => (
          <Row
            key={each.name}
            each={each}
            shown={each.name === shown}
            onShow={() => setChosen(each.name === shown ? "" : each.name)}
          />
        ))}
      </ul>
    </div>
  );
}
