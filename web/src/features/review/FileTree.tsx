/** The changed files by folder, with counts and ticks. */
import type { ChangedFileItem, RepositoryChangesResponse } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { handleListKey } from "../git/diff/diff.ts";
import { splitPath } from "../git/texts.ts";
import { visible } from "../git/diff/diff.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { BaseSelect } from "./base/BaseSelect.tsx";
import { commitAll } from "./commit.ts";
import { PullRequest } from "./forge/PullRequest.tsx";
import { isShown, only } from "./open.ts";
import { changes, choose, chosen, isPast, isSame, markViewed } from "./state.ts";

const LETTERS = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  "type-changed": "T",
  conflicted: "U",
} as const;

/** Files of one folder, in git's order. */
export function groupByFolder(
  files: readonly ChangedFileItem[],
): [folder: string, files: ChangedFileItem[]][] {
  const groups = new Map<string, ChangedFileItem[]>();
  for (const file of files) {
    const { folder } = splitPath(file.path);
    groups.set(folder, [...(groups.get(folder) ?? []), file]);
  }
  return [...groups];
}

function describeComments({ comments: { open, sent, outdated } }: ChangedFileItem): string {
  const parts = [
    open > 0 && `${plural(open, "comment")} not sent`,
    sent > 0 && `${plural(sent, "comment")} sent`,
    outdated > 0 && `${outdated} outdated`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function Row({ session, repo, file }: { session: string; repo: string; file: ChangedFileItem }) {
  const said = describeComments(file);
  const count = file.comments.open + file.comments.sent;
  const { name } = splitPath(file.path);
  return (
    <li class="review-row">
      <button
        type="button"
        class="git-file"
        aria-current={isSame(chosen.value, { repo, path: file.path }) || undefined}
        data-viewed={file.viewed || undefined}
        onClick={() => choose({ repo, path: file.path })}
        data-testid="review-file"
      >
        <span class="review-letter" data-status={file.status} title={file.status}>
          {LETTERS[file.status]}
        </span>
        <span class="review-name">
          <bdi>{visible(name)}</bdi>
        </span>
        {count > 0 && (
          <span class="review-said" title={said} role="img" aria-label={said}>
            {count}
          </span>
        )}
        <span class="review-sums">
          {file.added > 0 && <span data-kind="added">+{file.added.toLocaleString("en")}</span>}{" "}
          {file.removed > 0 && <span data-kind="removed">−{file.removed.toLocaleString("en")}</span>}
        </span>
      </button>
      {!isPast() && (
        <button
          type="button"
          class="review-tick"
          aria-pressed={file.viewed}
          aria-label={`Seen: ${file.path}`}
          onClick={() => void markViewed(session, { repo, path: file.path, file })}
        >
          <Icon name="check" size={15} />
        </button>
      )}
    </li>
  );
}

const isUncommitted = ({ kind }: ChangedFileItem): boolean =>
  kind.some((each) => each === "staged" || each === "unstaged" || each === "untracked");

function Repository({
  session,
  found,
  alone,
}: {
  session: string;
  found: RepositoryChangesResponse;
  alone: boolean;
}) {
  const Heading = alone ? "h3" : "h4";
  return (
    <section class="review-repository">
      <header>
        {!alone && (
          <h3>
            <bdi>{found.name}</bdi>
          </h3>
        )}
        <small class="dim">
          <Icon name="branch" size={13} />{" "}
          <span>
            <bdi>{found.head.branch ?? found.head.commit?.slice(0, 8) ?? "no branch"}</bdi>
          </span>
        </small>
        <BaseSelect session={session} changes={found} />
        {found.files.some(isUncommitted) && (
          <Button small onClick={() => void commitAll(session, found.repo)} testid="review-commit">
            Commit…
          </Button>
        )}
        {!isPast() && <PullRequest session={session} changes={found} />}
      </header>
      {groupByFolder(found.files.filter(isShown)).map(([folder, files]) => (
        <section key={folder}>
          {folder !== "" && (
            <Heading class="review-folder-head">
              <bdi>{visible(folder)}</bdi>
            </Heading>
          )}
          <ul>
            {files.map((file) => (
              <Row key={file.path} session={session} repo={found.repo} file={file} />
            ))}
          </ul>
        </section>
      ))}
      {found.truncated && (
        <p class="dim review-none">
          Showing {found.files.length.toLocaleString("en")} of {plural(found.totals.files, "file")}.
        </p>
      )}
    </section>
  );
}

function TurnFilter({ files }: { files: readonly ChangedFileItem[] }) {
  if (only.value === undefined) return null;
  return (
    <p class="review-only" role="status" data-testid="review-only">
      {plural(files.filter(isShown).length, "file")} of one turn
      <Button small onClick={() => (only.value = undefined)}>
        Show all
      </Button>
    </p>
  );
}

export function FileTree({ session }: { session: string }) {
  const found = changes.value;
  if (!found) return null;
  const files = found.repositories.flatMap((each) => each.files);
  const seen = files.filter((file) => file.viewed).length;
  return (
    <nav class="review-tree" aria-label="Changed files" onKeyDown={handleListKey}>
      <p class="review-progress" role="status" data-testid="review-progress">
        {isPast() ? plural(files.length, "file") : `${seen} of ${plural(files.length, "file")} seen`}
      </p>
      <TurnFilter files={files} />
      {found.repositories.map((each) => (
        <Repository key={each.repo} session={session} found={each} alone={found.repositories.length === 1} />
      ))}
    </nav>
  );
}
