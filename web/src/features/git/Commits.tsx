/** What was not pushed, newest first. */
import { plural } from "../../lib/format.ts";
import { copyText } from "../../ui/clipboard.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { useNow } from "../../ui/useNow.ts";
import type { UnpushedCommitResponse } from "../../api/types.ts";
import { formatAge, type ReadState } from "./texts.ts";
import { shortHash } from "./summary.ts";

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

export function Commits({ status }: { status: ReadState }) {
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
