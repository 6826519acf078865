/** The pull request of a repository's branch: its state, or the way to open one. */
import { useEffect, useState } from "preact/hooks";
import type { PullRequestItem, PullRequestResponse, RepositoryChangesResponse } from "../../../api/types.ts";
import { getErrorText } from "../../../api/errors.ts";
import { plural } from "../../../lib/format.ts";
import { Button } from "../../../ui/Button.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { visibleLines } from "../../git/diff/diff.ts";
import {
  canOpen,
  describeChecks,
  describeReason,
  type Draft,
  isSameHere,
  readLog,
  readPullRequest,
  REVIEWS,
  suggestDraft,
} from "./calls.ts";
import { ForgeComment, ForgeLink } from "./ForgeComment.tsx";
import { setCommentsAtLines } from "./atlines.ts";
import { sendFailures } from "./mend.ts";
import { PullRequestForm } from "./PullRequestForm.tsx";
import "./forge.css";

/** The service asks the forge at most this often. */
const EVERY_MS = 30_000;

function usePullRequest(session: string, repo: string, commit: string | null) {
  const [found, setFound] = useState<PullRequestResponse>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    const read = () =>
      readPullRequest(session, repo, end.signal).then(
        (now) => {
          if (end.signal.aborted) return;
          setFound(now);
          setProblem("");
        },
        (error: unknown) => end.signal.aborted || setProblem(getErrorText(error)),
      );
    void read();
    const timer = setInterval(() => document.hidden || void read(), EVERY_MS);
    return () => {
      clearInterval(timer);
      end.abort();
    };
  }, [session, repo, commit]);
  return { found, setFound, problem };
}

/** The end of what a failed check printed, read when somebody wants to see it. */
function CheckLog({ session, repo, job }: { session: string; repo: string; job: string }) {
  const [text, setText] = useState<string>();
  const read = () =>
    readLog(session, repo, job).then(
      (log) => setText(log || "It printed nothing."),
      (error: unknown) => setText(getErrorText(error)),
    );
  return (
    <details
      class="forge-log"
      onToggle={({ currentTarget }) => currentTarget.open && text === undefined && void read()}
    >
      <summary>End of the log</summary>
      <pre tabIndex={0} aria-label="End of the log" aria-busy={text === undefined} data-testid="pull-log">
        {text === undefined ? "Loading…" : visibleLines(text)}
      </pre>
    </details>
  );
}

function Failures({ session, repo, pull }: { session: string; repo: string; pull: PullRequestItem }) {
  const { failures } = pull.checks;
  const [busy, setBusy] = useState(false);
  if (failures.length === 0) return null;
  const mend = async () => {
    setBusy(true);
    await sendFailures(session, repo);
    setBusy(false);
  };
  return (
    <>
      <ul class="forge-failed" aria-label="Failed checks">
        {failures.map(({ name, url, job }) => (
          <li key={`${name} ${url}`}>
            <ForgeLink url={url}>
              <bdi>{name}</bdi>
            </ForgeLink>
            {job !== undefined && <CheckLog session={session} repo={repo} job={job} />}
          </li>
        ))}
      </ul>
      <Button small disabled={busy} onClick={() => void mend()} testid="pull-mend">
        <Icon name="send" size={13} /> Let the agent mend it
      </Button>
    </>
  );
}

function State({
  session,
  pull,
  changes,
}: {
  session: string;
  pull: PullRequestItem;
  changes: RepositoryChangesResponse;
}) {
  const said = [describeChecks(pull), REVIEWS[pull.review]].filter((part) => part !== "");
  return (
    <div class="forge-state" data-testid="pull-state">
      <p>
        <ForgeLink url={pull.url}>
          #{pull.number} <bdi>{pull.title}</bdi>
        </ForgeLink>
      </p>
      <p class="forge-said" role="status">
        <span data-state={pull.state}>{pull.state}</span>
        {said.map((part) => (
          <span key={part} data-state={part === said[0] ? pull.checks.state : undefined}>
            {part}
          </span>
        ))}
      </p>
      <Failures session={session} repo={changes.repo} pull={pull} />
      {pull.comments.length > 0 && (
        <details class="forge-comments">
          <summary>
            {plural(pull.comments.length, "review comment")}
            {pull.commentsTruncated && ", more at the forge"}
          </summary>
          <ul>
            {pull.comments.map((comment) => (
              <li key={comment.id}>
                <ForgeComment
                  session={session}
                  repo={changes.repo}
                  comment={comment}
                  takes={isSameHere(comment, pull, changes)}
                />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

interface Props {
  session: string;
  changes: RepositoryChangesResponse;
}

export function PullRequest({ session, changes }: Props) {
  const { repo, head } = changes;
  const { found, setFound, problem } = usePullRequest(session, repo, head.commit);
  const [draft, setDraft] = useState<Draft>();
  const shown = found?.pullRequest;
  useEffect(() => {
    const same = shown?.comments.filter((comment) => isSameHere(comment, shown, changes)) ?? [];
    setCommentsAtLines(repo, same);
    return () => setCommentsAtLines(repo, []);
  }, [shown, changes]);
  const [trouble, setTrouble] = useState("");
  const begin = () =>
    suggestDraft(session, repo).then(setDraft, (error: unknown) => setTrouble(getErrorText(error)));
  const said = trouble || problem || (found ? describeReason(found) : "");
  const pull = found?.pullRequest;
  const isOver = pull?.state === "merged" || pull?.state === "closed";
  const isMissing = found !== undefined && found.reason === undefined && (pull === undefined || isOver);
  return (
    <>
      {said !== "" && <small class="dim">{said}</small>}
      {pull && <State session={session} pull={pull} changes={changes} />}
      {isMissing && !draft && canOpen(changes) && (
        <Button small onClick={() => void begin()} testid="pull-open">
          <Icon name="branch" size={13} /> Open pull request…
        </Button>
      )}
      {draft && (
        <PullRequestForm
          session={session}
          repo={repo}
          first={draft}
          onClose={() => setDraft(undefined)}
          onOpened={(now) => {
            setDraft(undefined);
            setFound(now);
          }}
        />
      )}
    </>
  );
}
