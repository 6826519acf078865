/** The pull request of a repository's branch: its state, or the way to open one. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type {
  ForgeCommentItem,
  PullRequestItem,
  PullRequestResponse,
  RepositoryChangesResponse,
} from "../../../api/types.ts";
import { getErrorText } from "../../../api/errors.ts";
import { plural } from "../../../lib/format.ts";
import { Button } from "../../../ui/Button.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { addComment } from "../state.ts";
import {
  canOpen,
  describeChecks,
  describeReason,
  type Draft,
  isSameHere,
  readPullRequest,
  REVIEWS,
  suggestDraft,
} from "./calls.ts";
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

/** Words that lead to the forge, where it said whereto. */
function ForgeLink({ url, children }: { url: string; children: ComponentChildren }) {
  if (url === "") return <span>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

interface CommentProps {
  session: string;
  comment: ForgeCommentItem;
  pull: PullRequestItem;
  changes: RepositoryChangesResponse;
}

function ForgeComment({ session, comment, pull, changes }: CommentProps) {
  const [taken, setTaken] = useState(false);
  const { path, line, author, text, url } = comment;
  const take = async () => {
    if (line === undefined) return;
    const at = { side: "new", line, endLine: line } as const;
    const said = `${author}: ${text}`.slice(0, 8000);
    setTaken(await addComment(session, { repo: changes.repo, path }, at, said, undefined));
  };
  return (
    <li>
      <small>
        <bdi>{author}</bdi>,{" "}
        <ForgeLink url={url}>
          <bdi>{line === undefined ? path : `${path}:${line}`}</bdi>
        </ForgeLink>
      </small>
      <p dir="auto">{text}</p>
      {isSameHere(comment, pull, changes) && (
        <Button small disabled={taken} onClick={() => void take()} testid="pull-take">
          {taken ? "Taken over" : "Take over"}
        </Button>
      )}
    </li>
  );
}

function State({ session, pull, changes }: Omit<CommentProps, "comment">) {
  const said = [describeChecks(pull), REVIEWS[pull.review]].filter((part) => part !== "");
  const { failures } = pull.checks;
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
      {failures.length > 0 && (
        <ul class="forge-failed" aria-label="Failed checks">
          {failures.map(({ name, url }) => (
            <li key={`${name} ${url}`}>
              <ForgeLink url={url}>
                <bdi>{name}</bdi>
              </ForgeLink>
            </li>
          ))}
        </ul>
      )}
      {pull.comments.length > 0 && (
        <details class="forge-comments">
          <summary>
            {plural(pull.comments.length, "review comment")}
            {pull.commentsTruncated && ", more at the forge"}
          </summary>
          <ul>
            {pull.comments.map((comment) => (
              <ForgeComment
                key={comment.id}
                session={session}
                comment={comment}
                pull={pull}
                changes={changes}
              />
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
