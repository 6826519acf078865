/** One repository: where it stands, its files, what is not pushed. */
import { plural } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Commits } from "./Commits.tsx";
import { FileList } from "./FileList.tsx";
import { describeHead } from "./summary.ts";
import { GitError } from "./GitError.tsx";
import type { ReadState, RepositoryResponse } from "./types.ts";
import { describeTracking } from "./texts.ts";

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

interface Props {
  repo: RepositoryResponse;
  /** With several, each has its name and can be folded. */
  alone: boolean;
  onRetry: (timeout?: number) => void;
}

function Content({ repo, onRetry }: Omit<Props, "alone">) {
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

export function RepositoryPart({ repo, alone, onRetry }: Props) {
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
