/** What is uncommitted and unpushed in the folder of the session in front. */
import { plural } from "../../lib/format.ts";
import { copyText } from "../../ui/clipboard.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { useNow } from "../../ui/useNow.ts";
import type { UnpushedCommitResponse, RepositoryResponse, GitStatusResponse } from "../../api/types.ts";
import { formatAge, type ReadState, describeTracking, explainAbsence } from "./texts.ts";
import { shortHash, describeHead } from "./summary.ts";
import { Icon } from "../../ui/Icon.tsx";
import { FileList, GitError } from "./FileList.tsx";
import { useEffect } from "preact/hooks";
import { activeSession } from "../../store/state.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { DiffView } from "./diff/DiffView.tsx";
import { answers, chosen, reading, readNow, type Answer } from "./state.ts";
import { handleListKey } from "./diff/diff.ts";
import "./git.css";

async function copyHash(hash: string): Promise<void> {
  if (await copyText(hash)) showToast("good", "Copied", hash);
  else showError("Couldn't copy", "Your browser blocked access to the clipboard.");
}

function Row({ commit, now }: { commit: UnpushedCommitResponse; now: number }) {
  return (
    <li class="git-commit">
      <span class="git-subject">{commit.subject || "(no subject)"}</span>
      <span class="git-meta">
        <button
          type="button"
          class="git-hash"
          title="Copy the full hash"
          aria-label={`Copy hash ${shortHash(commit.hash)}`}
          onClick={() => void copyHash(commit.hash)}
        >
          {shortHash(commit.hash)}
        </button>
        <bdi class="git-author">{commit.author}</bdi>
        <time dateTime={new Date(commit.time * 1000).toISOString()}>
          {formatAge(commit.time * 1000, now)}
        </time>
      </span>
    </li>
  );
}

function Commits({ status }: { status: ReadState }) {
  const now = useNow();
  if (status.unpushedCount === 0) return null;
  const more = status.unpushedCount - status.unpushed.length;
  return (
    <details class="git-commits" open={status.unpushed.length <= 5} data-testid="git-unpushed">
      <summary>
        Not pushed <span class="count">{status.unpushedCount.toLocaleString("en")}</span>
      </summary>
      <ul>
        {status.unpushed.map((commit) => (
          <Row key={commit.hash} commit={commit} now={now} />
        ))}
      </ul>
      {more > 0 && <p class="dim git-more">{plural(more, "older commit")}, not listed</p>}
    </details>
  );
}

function Standing({ status }: { status: ReadState }) {
  const { stashes } = status.counts;
  return (
    <p class="git-standing">
      <span class="git-branch" data-testid="git-branch">
        <Icon name="branch" size={15} />
        <bdi>{describeHead(status)}</bdi>
        {status.detached && <span class="badge">detached</span>}
      </span>
      <span class={status.upstreamGone ? "git-gone" : "dim"}>{describeTracking(status)}</span>
      {stashes > 0 && (
        <span class="dim" data-testid="git-stashes">
          {plural(stashes, "stash", "stashes")}
        </span>
      )}
    </p>
  );
}

interface RepositoryPartProps {
  repo: RepositoryResponse;
  /** With several, each has its name and can be folded. */
  alone: boolean;
  onRetry: (timeout?: number) => void;
}

function Content({ repo, onRetry }: Omit<RepositoryPartProps, "alone">) {
  const { status } = repo;
  if (status.state === "error") return <GitError problem={status.error} onRetry={onRetry} />;
  return (
    <>
      <Standing status={status} />
      <FileList status={status} />
      <Commits status={status} />
    </>
  );
}

function brief({ status }: RepositoryResponse): string {
  if (status.state === "error") return "couldn't read";
  return status.counts.uncommitted === 0 ? "clean" : plural(status.counts.uncommitted, "change");
}

function RepositoryPart({ repo, alone, onRetry }: RepositoryPartProps) {
  const busy = repo.status.state === "error" || repo.status.counts.uncommitted > 0;
  if (alone)
    return (
      <div class="git-repo" data-testid="git-repo">
        <Content repo={repo} onRetry={onRetry} />
      </div>
    );
  return (
    <details class="git-repo" open={busy} data-testid="git-repo">
      <summary title={repo.path}>
        <bdi class="git-repo-name">{repo.name}</bdi>
        <small>{brief(repo)}</small>
      </summary>
      <Content repo={repo} onRetry={onRetry} />
    </details>
  );
}

function Repositories({
  status,
  onRetry,
}: {
  status: GitStatusResponse;
  onRetry: (timeout?: number) => void;
}) {
  const why = explainAbsence(status);
  if (why !== undefined)
    return (
      <p class="git-none" data-testid="git-none">
        <Icon name="branch" size={28} />
        {why}
      </p>
    );
  if (status.state === "error") return <GitError problem={status.error ?? "git failed"} onRetry={onRetry} />;
  return (
    <>
      {status.repos.map((repo) => (
        <RepositoryPart
          key={repo.status.repoRoot}
          repo={repo}
          alone={status.repos.length === 1}
          onRetry={onRetry}
        />
      ))}
      {status.reposTruncated && (
        <p class="dim git-more" data-testid="git-more-repos">
          Showing the first {status.repoLimit ?? status.repos.length} repositories. There may be more.
        </p>
      )}
    </>
  );
}

function Known({ answer, onRetry }: { answer: Answer | undefined; onRetry: (timeout?: number) => void }) {
  if (answer?.status) return <Repositories status={answer.status} onRetry={onRetry} />;
  if (answer?.problem !== undefined) return <GitError problem={answer.problem} onRetry={onRetry} />;
  return <p class="git-none dim">Loading…</p>;
}

function Foot({ id, name }: { id: string; name: string }) {
  const now = useNow();
  const busy = reading.value.has(id);
  const at = answers.value.get(id)?.at;
  return (
    <div class="git-foot">
      <small class="git-where">
        <bdi>{name}</bdi>
        <span role="status">
          {busy ? "refreshing…" : at !== undefined && `updated ${formatAge(at, now)}`}
        </span>
      </small>
      <IconButton
        icon="refresh"
        label="Refresh"
        class={busy ? "turning" : ""}
        disabled={busy}
        onClick={() => void readNow(id)}
        testid="git-refresh"
      />
    </div>
  );
}

/** Where there is nothing to choose from, what is told of that has the page to itself. */
function hasFiles(answer: Answer | undefined): boolean {
  const repos = answer?.status?.repos ?? [];
  return repos.some(({ status }) => status.state === "ok" && status.files.length > 0);
}

/** A file that is not in the status any more has no diff either. */
function useChosen(answer: Answer | undefined) {
  const file = chosen.value;
  const states = answer?.status?.repos.map((repo) => repo.status) ?? [];
  const there = states.some(
    (status) =>
      status.state === "ok" &&
      status.repoRoot === file?.repo &&
      status.files.some((each) => each.path === file.path && each.kind === file.kind),
  );
  return there ? file : undefined;
}

export function GitPage() {
  const session = activeSession.value;
  const id = session?.id;
  useEffect(() => {
    if (id !== undefined) void readNow(id);
    return () => (chosen.value = undefined);
  }, [id]);
  const answer = id === undefined ? undefined : answers.value.get(id);
  const file = useChosen(answer);
  if (!session || id === undefined) return null;
  const retry = (timeout?: number) => void readNow(id, timeout === undefined ? {} : { timeout });
  return (
    <div
      class="git-page"
      data-view={file ? "diff" : hasFiles(answer) ? "files" : "none"}
      data-testid="git-panel"
    >
      <div class="git-side">
        <div class="git-list" onKeyDown={handleListKey}>
          <Known answer={answer} onRetry={retry} />
        </div>
        <Foot id={id} name={session.name} />
      </div>
      <div class="git-main">
        {file ? (
          <DiffView session={id} file={file} readAt={answer?.at ?? 0} />
        ) : (
          <p class="git-none dim">Choose a file to see its changes.</p>
        )}
      </div>
    </div>
  );
}
