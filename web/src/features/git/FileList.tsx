/** The changed files of one repository, by kind. */
import { Button } from "../../ui/Button.tsx";
import { plural } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import "./files.css";
import { chosen } from "./state.ts";
import {
  isTimeout,
  LONGEST_TIMEOUT,
  type FileChange,
  type Kind,
  type ReadState,
  hasDiff,
  KINDS,
  getChangeLetter,
  splitPath,
  getChangeLabel,
} from "./texts.ts";
import { visible } from "./diff/diff.ts";

function isChosen(repo: string, file: FileChange): boolean {
  const now = chosen.value;
  return now?.repo === repo && now.path === file.path && now.kind === file.kind;
}

function Name({ file }: { file: FileChange }) {
  const { folder, name } = splitPath(file.path);
  return (
    <span class="git-path">
      {folder && (
        <span class="git-folder">
          <bdi>{visible(folder)}</bdi>
        </span>
      )}
      <span class="git-name">
        <bdi>{visible(name)}</bdi>
      </span>
      {file.origPath && <small>from {visible(file.origPath)}</small>}
    </span>
  );
}

interface RowProps {
  repo: string;
  file: FileChange;
  /** Tab comes here; the arrows go on to the others. */
  first: boolean;
}

function Row({ repo, file, first }: RowProps) {
  const shown = isChosen(repo, file);
  const content = (
    <>
      <span class="git-letter" data-kind={file.kind} aria-hidden="true">
        {getChangeLetter(file)}
      </span>
      <Name file={file} />
      <span class="sr-only">, {getChangeLabel(file)}</span>
    </>
  );
  if (!hasDiff(file))
    return (
      <li class="git-file still" title="new folder; its files are not listed">
        {content}
        <Icon name="folder" size={14} />
      </li>
    );
  return (
    <li>
      <button
        type="button"
        class="git-file"
        title={`${file.path}: ${getChangeLabel(file)}`}
        tabIndex={shown || (first && chosen.value === undefined) ? 0 : -1}
        aria-current={shown ? "true" : undefined}
        onClick={() => (chosen.value = { repo, path: file.path, kind: file.kind })}
        data-testid="git-file"
      >
        {content}
      </button>
    </li>
  );
}

function Group({ status, kind, title }: { status: ReadState; kind: Kind; title: string }) {
  const files = status.files.filter((file) => file.kind === kind);
  const start = status.files.find(hasDiff);
  const all = status.counts[kind];
  if (all === 0) return null;
  return (
    <section class="git-group" data-testid={`git-${kind}`}>
      <h3>
        {title} <span class="count">{all.toLocaleString("en")}</span>
      </h3>
      <ul>
        {files.map((file) => (
          <Row key={file.path} repo={status.repoRoot} file={file} first={file === start} />
        ))}
      </ul>
      {files.length < all && (
        <p class="dim git-more">
          {files.length === 0 ? plural(all, "file") : `${(all - files.length).toLocaleString("en")} more`},
          not listed
        </p>
      )}
    </section>
  );
}

export function FileList({ status }: { status: ReadState }) {
  if (status.counts.uncommitted === 0)
    return (
      <p class="git-clean">
        <Icon name="check" size={16} /> Nothing to commit
      </p>
    );
  return (
    <>
      {KINDS.map(([kind, title]) => (
        <Group key={kind} status={status} kind={kind} title={title} />
      ))}
    </>
  );
}

interface GitErrorProps {
  problem: string;
  onRetry: (timeout?: number) => void;
}

export function GitError({ problem, onRetry }: GitErrorProps) {
  const late = isTimeout(problem);
  return (
    <div class="git-trouble" data-testid="git-trouble">
      <p class="problem" role="alert">
        <Icon name="alert" /> {problem}
      </p>
      <Button small onClick={() => onRetry(late ? LONGEST_TIMEOUT : undefined)}>
        {late ? "Try again with more time" : "Try again"}
      </Button>
    </div>
  );
}
