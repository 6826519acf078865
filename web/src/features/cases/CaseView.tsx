/** One case. Its git state and its files are those that a session in it sees. */
import { Button } from "../../ui/Button.tsx";
import { useEffect } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { FILES_PAGE, GIT_PAGE, openPage, RULES_PAGE } from "../../ui/pages/registry.ts";
import { inboxEnabled } from "../approvals/state.ts";
import { ChecksForm } from "../checks/ChecksForm.tsx";
import { answers, readNow } from "../git/state.ts";
import { formatSummary, summarizeStatus } from "../git/summary.ts";
import { Goals } from "../suggestions/Goals.tsx";
import { select } from "../../ui/pages/select.ts";
import { newSessionPlace } from "../sessions/newsession.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { useRead } from "../../store/resource.ts";
import { sessions } from "../../store/state.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { askAndRemoveCase } from "./state.ts";
import { ContainerCard } from "../containers/ContainerCard.tsx";
import {
  describeRemoval,
  runsElsewhere,
  describeCaseKind,
  explainRemovalBlock,
  findSessionsInCase,
} from "./rules.ts";
import type { CaseResponse } from "../../api/types.ts";

/** @param page absent: the terminal. */
function go(session: Session, page?: string): void {
  select(session.id);
  openPage.value = page;
}

function start(each: CaseResponse): void {
  const elsewhere = runsElsewhere(each) ? describeCaseKind(each) : undefined;
  newSessionPlace.value = { workingDir: each.path, caseName: each.name, elsewhere };
  openPage.value = undefined;
  newSessionOpen.value = true;
}

function Sessions({ found }: { found: readonly Session[] }) {
  if (found.length === 0) return <p class="dim">No sessions in this workspace.</p>;
  return (
    <ul class="case-sessions" aria-label="Sessions in this workspace">
      {found.map((session) => (
        <li key={session.id}>
          <button type="button" class="chip" onClick={() => go(session)} data-testid="case-session">
            <StatusDot session={session} /> <bdi>{session.name}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}

function FilesButton({ session }: { session: Session }) {
  return (
    <Button small onClick={() => go(session, FILES_PAGE)} testid="case-files">
      <Icon name="folder" size={14} /> Files
    </Button>
  );
}

/** What is elsewhere is not looked into from here; a container's folder is of this machine. */
function RemoteDetails({ each, session }: { each: CaseResponse; session: Session | undefined }) {
  if (each.remote)
    return <p class="dim">The folder is on {each.remote.hostId}. Changes and files there are not shown.</p>;
  return (
    <>
      <ContainerCard caseName={each.name} />
      {session && <FilesButton session={session} />}
    </>
  );
}

function SessionDetails({ session }: { session: Session }) {
  useEffect(() => void readNow(session.id), [session.id]);
  const status = answers.value.get(session.id)?.status;
  const summary = status && summarizeStatus(status);
  return (
    <>
      <p data-testid="case-git">
        {summary ? formatSummary(summary) : status ? "Not a git repository." : "Loading…"}
      </p>
      <div class="case-buttons">
        <Button small onClick={() => go(session, GIT_PAGE)} testid="case-changes">
          <Icon name="branch" size={14} /> Changes
        </Button>
        <FilesButton session={session} />
        {inboxEnabled.value && (
          <Button small onClick={() => (openPage.value = RULES_PAGE)} testid="case-rules">
            <Icon name="check" size={14} /> Approval rules
          </Button>
        )}
      </div>
    </>
  );
}

function RemoveSection({ each }: { each: CaseResponse }) {
  const bar = explainRemovalBlock(each);
  return (
    <div class="case-end">
      <p>
        <strong>Remove.</strong> {bar ?? describeRemoval(each)}
      </p>
      <Button
        small
        disabled={bar !== undefined}
        onClick={() => void askAndRemoveCase(each)}
        testid="case-remove"
      >
        Remove
      </Button>
    </div>
  );
}

/** Without a session in it nobody follows its changes: they are read when somebody looks. */
function GitSummary({ name }: { name: string }) {
  const { data: status, problem } = useRead(
    (signal) => api.get("/api/cases/{name}/git-status", { path: { name }, signal }),
    [name],
  );
  const summary = status && summarizeStatus(status);
  const known = summary ? formatSummary(summary) : "Not a git repository.";
  const text = problem || (status ? known : "Loading…");
  return (
    <>
      <p data-testid="case-git">{text}</p>
      <p class="dim">Start a session here to see changes, files and goals.</p>
    </>
  );
}

function CaseDetails({ each, session }: { each: CaseResponse; session: Session | undefined }) {
  if (runsElsewhere(each)) return <RemoteDetails each={each} session={session} />;
  if (session) return <SessionDetails session={session} />;
  return each.cloning || each.unreachable ? null : <GitSummary name={each.name} />;
}

export function CaseView({ each }: { each: CaseResponse }) {
  const found = findSessionsInCase(each, sessions.value);
  const [first] = found;
  /** Goals belong to a folder, and are reached by what works there. */
  const at = found.find(({ workingDir }) => workingDir === each.path);
  return (
    <div class="case-view" data-testid="case-view">
      {each.description && <p>{each.description}</p>}
      <p class="case-path">
        <bdi>{each.path}</bdi>
        <IconButton icon="copy" label="Copy path" onClick={() => void copyText(each.path)} />
      </p>
      <Sessions found={found} />
      {at && <Goals key={at.id} session={at} />}
      <CaseDetails each={each} session={first} />
      {each.cloning === undefined && <ChecksForm key={`checks ${each.name}`} name={each.name} />}
      <Button
        small
        disabled={each.cloning !== undefined || each.unreachable === true}
        onClick={() => start(each)}
        testid="case-start"
      >
        <Icon name="plus" size={14} /> New session here
      </Button>
      <RemoveSection each={each} />
    </div>
  );
}
