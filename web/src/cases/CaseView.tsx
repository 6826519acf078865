/** One case. Its git state and its files are those that a session in it sees. */
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import type { Session } from "../api/types.ts";
import { openPage } from "../app/registry.ts";
import { FILES_PAGE } from "../files/page.ts";
import { GIT_PAGE } from "../git/page.ts";
import { answers, readNow } from "../git/state.ts";
import { sentence, summarise } from "../git/summary.ts";
import { Goals } from "../mind/Goals.tsx";
import { select } from "../sessions/actions.ts";
import { newSessionOpen, newSessionPlace } from "../sessions/newsession.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { sessions } from "../store/state.ts";
import { copyText } from "../ui/clipboard.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { readCaseGit } from "./calls.ts";
import { remove } from "./remove.ts";
import { Box } from "../containers/Box.tsx";
import { consequences, isElsewhere, kindOf, removalBar, sessionsIn } from "./rules.ts";
import type { CaseResponse } from "./types.ts";

/** @param page absent: the terminal. */
function go(session: Session, page?: string): void {
  select(session.id);
  openPage.value = page;
}

function start(each: CaseResponse): void {
  const elsewhere = isElsewhere(each) ? kindOf(each) : undefined;
  newSessionPlace.value = { workingDir: each.path, caseName: each.name, elsewhere };
  openPage.value = undefined;
  newSessionOpen.value = true;
}

function Sessions({ found }: { found: readonly Session[] }) {
  if (found.length === 0) return <p class="dim">No session works in it.</p>;
  return (
    <ul class="case-sessions" aria-label="Sessions in it">
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
    <button
      type="button"
      class="button small"
      onClick={() => go(session, FILES_PAGE)}
      data-testid="case-files"
    >
      <Icon name="folder" size={14} /> Files
    </button>
  );
}

/** What is elsewhere is not looked into from here; a container's folder is of this machine. */
function Elsewhere({ each, session }: { each: CaseResponse; session: Session | undefined }) {
  if (each.remote)
    return (
      <p class="dim">Its folder is on {each.remote.hostId}: changes and files there are not looked at.</p>
    );
  return (
    <>
      <Box caseName={each.name} />
      {session && <FilesButton session={session} />}
    </>
  );
}

function Inside({ session }: { session: Session }) {
  useEffect(() => void readNow(session.id), [session.id]);
  const status = answers.value.get(session.id)?.status;
  const summary = status && summarise(status);
  return (
    <>
      <p data-testid="case-git">{summary ? sentence(summary) : status ? "No repository." : "Reading…"}</p>
      <div class="case-buttons">
        <button
          type="button"
          class="button small"
          onClick={() => go(session, GIT_PAGE)}
          data-testid="case-changes"
        >
          <Icon name="branch" size={14} /> Changes
        </button>
        <FilesButton session={session} />
      </div>
    </>
  );
}

function End({ each }: { each: CaseResponse }) {
  const bar = removalBar(each);
  return (
    <div class="case-end">
      <p>
        <strong>Removing it.</strong> {bar ?? consequences(each)}
      </p>
      <button
        type="button"
        class="button small"
        disabled={bar !== undefined}
        onClick={() => void remove(each)}
        data-testid="case-remove"
      >
        Remove
      </button>
    </div>
  );
}

/** Without a session in it nobody follows its changes: they are read when somebody looks. */
function Alone({ name }: { name: string }) {
  const [text, setText] = useState("Reading…");
  useEffect(() => {
    const end = new AbortController();
    readCaseGit(name, end.signal).then(
      (status) => {
        const summary = summarise(status);
        setText(summary ? sentence(summary) : "No repository.");
      },
      (error: unknown) => !end.signal.aborted && setText(sentenceOf(error)),
    );
    return () => end.abort();
  }, [name]);
  return (
    <>
      <p data-testid="case-git">{text}</p>
      <p class="dim">Single changes, files and goals are seen from a session in it.</p>
    </>
  );
}

function About({ each, session }: { each: CaseResponse; session: Session | undefined }) {
  if (isElsewhere(each)) return <Elsewhere each={each} session={session} />;
  if (session) return <Inside session={session} />;
  return each.cloning || each.unreachable ? null : <Alone name={each.name} />;
}

export function CaseView({ each }: { each: CaseResponse }) {
  const found = sessionsIn(each, sessions.value);
  const [first] = found;
  /** Goals belong to a folder, and are reached by what works there. */
  const at = found.find(({ workingDir }) => workingDir === each.path);
  return (
    <div class="case-view" data-testid="case-view">
      {each.description && <p>{each.description}</p>}
      <p class="case-path">
        <bdi>{each.path}</bdi>
        <IconButton icon="copy" label="Copy the path" onClick={() => void copyText(each.path)} />
      </p>
      <Sessions found={found} />
      {at && <Goals key={at.id} session={at} />}
      <About each={each} session={first} />
      <button
        type="button"
        class="button small"
        disabled={each.cloning !== undefined || each.unreachable === true}
        onClick={() => start(each)}
        data-testid="case-start"
      >
        <Icon name="plus" size={14} /> New session here
      </button>
      <End each={each} />
    </div>
  );
}
