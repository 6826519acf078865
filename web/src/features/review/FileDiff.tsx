/** One changed file: its head, its hunks, its comments. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FileDiffResponse, HunkResponse, ImageResponse } from "../../api/types.ts";
import { getErrorText } from "../../api/errors.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { askQuestion } from "../../ui/ask.ts";
import { narrow } from "../../ui/width.ts";
import { showError } from "../../store/toasts.ts";
import { splitPath } from "../git/texts.ts";
import { visible } from "../git/diff/diff.ts";
import { describeTarget } from "./base/BaseSelect.tsx";
import { Comment } from "./Comments.tsx";
import { HunkTable } from "./HunkTable.tsx";
import { makeRowGestures } from "./gestures.ts";
import { findLoose } from "./rows.ts";
import {
  changes,
  changeView,
  choose,
  comments,
  CONTEXT,
  isPast,
  type ListedFile,
  markViewed,
  readFile,
  revert,
  type RevertTarget,
  sides,
  view,
  WHOLE_CONTEXT,
} from "./state.ts";

interface Found {
  diff?: FileDiffResponse;
  problem?: string;
}

/** A hunk that goes on on the next page is one hunk again. */
export function joinPages(before: FileDiffResponse, after: FileDiffResponse): FileDiffResponse {
  const hunks: HunkResponse[] = [...before.hunks];
  for (const hunk of after.hunks) {
    const last = hunks.at(-1);
    if (hunk.continued && last?.id === hunk.id) {
      hunks[hunks.length - 1] = { ...last, rows: [...last.rows, ...hunk.rows] };
    } else hunks.push(hunk);
  }
  return { ...after, hunks };
}

function useFileDiff(session: string, { repo, path, file }: ListedFile) {
  const how = view.value;
  const key = JSON.stringify([session, repo, path, how.all, how.whitespace, sides.value]);
  const [found, setFound] = useState<Found & { key: string }>({ key });
  useEffect(() => {
    const end = new AbortController();
    readFile(session, { repo, path }, how, 0, end.signal).then(
      (diff) => end.signal.aborted || setFound({ key, diff }),
      (error: unknown) => end.signal.aborted || setFound({ key, problem: getErrorText(error) }),
    );
    return () => end.abort();
  }, [key, file.hash]);
  const shown: Found = found.key === key ? found : {};
  const readMore = async () => {
    const { diff } = shown;
    if (!diff || diff.next === null) return;
    try {
      const more = await readFile(session, { repo, path }, how, diff.next);
      const joined = more.hash === diff.hash ? joinPages(diff, more) : more;
      setFound({ key, diff: joined });
    } catch (error) {
      showError("Couldn't read more", error);
    }
  };
  return { ...shown, readMore };
}

/** Puts back, asking first, and again while the agent works. */
async function putBack(session: string, target: RevertTarget, what: string): Promise<void> {
  const sure = await askQuestion({
    title: `Put back ${what}?`,
    text: "It becomes as it was before. You can undo this for 7 days.",
    action: "Put back",
    danger: true,
  });
  if (sure === undefined) return;
  if ((await revert(session, target, false)) !== "busy") return;
  const still = await askQuestion({
    title: "The agent is working",
    text: "It may be changing this file right now. Put it back all the same?",
    action: "Put back",
    danger: true,
  });
  if (still !== undefined) await revert(session, target, true);
}

function Picture({ image, label }: { image: ImageResponse | undefined; label: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!image) return setUrl(undefined);
    const bytes = Uint8Array.from(atob(image.data), (sign) => sign.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes], { type: image.mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  return url === undefined ? null : (
    <figure>
      <img src={url} alt={label} />
      <figcaption>{label}</figcaption>
    </figure>
  );
}

function Head({
  session,
  listed,
  onStep,
}: {
  session: string;
  listed: ListedFile;
  onStep: (step: 1 | -1) => void;
}) {
  const { file, path } = listed;
  const { folder, name } = splitPath(path);
  return (
    <header class="review-head">
      <IconButton
        icon="left"
        class="review-back"
        label="Back to files"
        onClick={() => choose(undefined)}
        testid="review-back"
      />
      <h3 tabIndex={-1}>
        {folder && (
          <span class="review-folder">
            <bdi>{visible(folder)}</bdi>
          </span>
        )}
        <bdi>{visible(name)}</bdi>
        {file.origPath !== undefined && <small> from {visible(file.origPath)}</small>}
      </h3>
      <span class="review-sums">
        <span data-kind="added">+{file.added.toLocaleString("en")}</span>{" "}
        <span data-kind="removed">−{file.removed.toLocaleString("en")}</span>
      </span>
      <span class="review-steps">
        <IconButton
          icon="up"
          label="Previous file"
          onClick={() => onStep(-1)}
          testid="review-previous-file"
        />
        <IconButton icon="down" label="Next file" onClick={() => onStep(1)} testid="review-next-file" />
      </span>
      {!isPast() && (
        <button
          type="button"
          class="button review-seen"
          aria-pressed={file.viewed}
          title="Seen  v"
          onClick={() => void markViewed(session, listed)}
          data-testid="review-seen"
        >
          <Icon name="check" size={16} /> Seen
        </button>
      )}
    </header>
  );
}

interface ToolsProps {
  /** What is compared, if not the files as they are now. */
  upTo: string | undefined;
  onRevert: (() => void) | undefined;
}

function Tools({ upTo, onRevert }: ToolsProps) {
  const how = view.value;
  return (
    <div class="review-tools" role="toolbar" aria-label="Diff">
      {!narrow.value && (
        <Button
          small
          aria-pressed={how.split}
          onClick={() => changeView({ split: !how.split })}
          testid="review-split"
        >
          Side by side
        </Button>
      )}
      <Button small aria-pressed={how.wrap} onClick={() => changeView({ wrap: !how.wrap })}>
        Wrap
      </Button>
      <Button small aria-pressed={how.all} onClick={() => changeView({ all: !how.all })}>
        Whole file
      </Button>
      <Button small aria-pressed={how.whitespace} onClick={() => changeView({ whitespace: !how.whitespace })}>
        Ignore spaces
      </Button>
      <Button
        small
        aria-pressed={how.spaces}
        onClick={() => changeView({ spaces: !how.spaces })}
        testid="review-spaces"
      >
        Show spaces
      </Button>
      <span class="spring" />
      {upTo !== undefined && <small class="dim">Up to: {upTo}</small>}
      {onRevert && (
        <Button small onClick={onRevert} testid="review-revert-file">
          Put back file
        </Button>
      )}
    </div>
  );
}

function describeEmpty(listed: ListedFile, diff: FileDiffResponse): string {
  if (diff.submodule) return "A submodule points to another commit.";
  if (listed.file.kind.includes("repository")) return "A repository of its own.";
  if (diff.binary) return "Binary file. No lines to show.";
  return "The lines are the same.";
}

interface Props {
  session: string;
  listed: ListedFile;
  onStep: (step: 1 | -1) => void;
}

export function FileDiff({ session, listed, onStep }: Props) {
  const { repo, path, file } = listed;
  const { diff, problem, readMore } = useFileDiff(session, listed);
  const how = view.value;
  const [open, setOpen] = useState(false);
  const folded = file.generated && !open;
  const past = isPast();
  const canRevert = sides.value.base === undefined && !past;
  const step = useRef(onStep);
  step.current = onStep;
  const gestures = useMemo(() => makeRowGestures((way) => step.current(way)), []);
  const target = { repo, path, hash: diff?.hash ?? file.hash, context: how.all ? WHOLE_CONTEXT : CONTEXT };
  const rows = diff?.hunks.flatMap((hunk) => hunk.rows) ?? [];
  const loose = diff && !past ? findLoose(comments.value, { repo, path }, rows) : [];
  return (
    <section class="review-file" aria-label={path} aria-busy={!diff && problem === undefined}>
      <Head session={session} listed={listed} onStep={onStep} />
      <Tools
        upTo={describeTarget(changes.value?.repositories.find((each) => each.repo === repo)?.target)}
        onRevert={canRevert ? () => void putBack(session, target, "the whole file") : undefined}
      />
      <div
        class="review-body"
        tabIndex={0}
        data-wrap={how.wrap || undefined}
        data-testid="review-body"
        {...gestures}
      >
        {problem !== undefined && <p class="review-none">{problem}</p>}
        {!diff && problem === undefined && <p class="review-none dim">Loading…</p>}
        {loose.map((comment) => (
          <Comment key={comment.id} session={session} comment={comment} />
        ))}
        {folded && (
          <p class="review-none">
            Generated file.{" "}
            <Button small onClick={() => setOpen(true)}>
              Show it
            </Button>
          </p>
        )}
        {!folded && diff && diff.hunks.length === 0 && !diff.newImage && !diff.oldImage && (
          <p class="review-none">{describeEmpty(listed, diff)}</p>
        )}
        <div class="review-images">
          <Picture image={diff?.oldImage} label="Before" />
          <Picture image={diff?.newImage} label={past ? "After" : "Now"} />
        </div>
        {!folded &&
          diff?.hunks.map((hunk) => (
            <HunkTable
              key={hunk.id}
              session={session}
              file={{ repo, path }}
              hunk={hunk}
              split={how.split && !narrow.value}
              onRevert={
                how.whitespace || !canRevert
                  ? undefined
                  : () => void putBack(session, { ...target, hunkIds: [hunk.id] }, "this change")
              }
            />
          ))}
        {diff && diff.next !== null && (
          <p class="review-none">
            <Button onClick={() => void readMore()} testid="review-more">
              Show more
            </Button>
          </p>
        )}
      </div>
    </section>
  );
}
