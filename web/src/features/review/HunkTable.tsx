/** A hunk: one table, with the comments below their lines. */
import { createContext, Fragment } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import type { HunkResponse, RowResponse } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { areTokensOf, cutTokens, type Token } from "../syntax/tokens.ts";
import { Tokens } from "../syntax/Tokens.tsx";
import { useColours } from "../syntax/useColours.ts";
import { Comment, CommentForm } from "./Comments.tsx";
import { findAtRow } from "./forge/atlines.ts";
import { ForgeComment } from "./forge/ForgeComment.tsx";
import { findThread, includes, splitRows, splitWords } from "./rows.ts";
import { drawText } from "./spaces.tsx";
import {
  changeSides,
  comments,
  dragging,
  type FileKey,
  isPast,
  selection,
  type Side,
  sides,
} from "./state.ts";

const SIGNS = { added: "+", removed: "−", context: "" } as const;
const WORDS = { added: "added: ", removed: "removed: ", context: "" } as const;
/** Characters of one line that are drawn. */
const LONGEST = 2_000;

const draw = (text: string) => drawText(text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text);

/** Syntax colours of the rows of a hunk, once they are known. */
const RowColours = createContext<ReadonlyMap<RowResponse, readonly Token[]>>(new Map());

function ColouredText({ row, tokens }: { row: RowResponse; tokens: readonly Token[] }) {
  const [before, marked] = splitWords(row);
  const end = before.length + marked.length;
  const cut = (from: number, to: number) => <Tokens tokens={cutTokens(tokens, from, to)} draw={drawText} />;
  return (
    <code>
      {cut(0, before.length)}
      {marked !== "" && <mark>{cut(before.length, end)}</mark>}
      {cut(end, row.text.length)}
    </code>
  );
}

function Text({ row }: { row: RowResponse }) {
  const tokens = useContext(RowColours).get(row);
  if (row.text.length <= LONGEST && areTokensOf(tokens, row.text)) {
    return (
      <>
        <span class="sr-only">{WORDS[row.kind]}</span>
        <ColouredText row={row} tokens={tokens} />
        {row.noNewline && <small> no newline at the end</small>}
      </>
    );
  }
  return <PlainText row={row} />;
}

function PlainText({ row }: { row: RowResponse }) {
  const [before, marked, after] = splitWords(row);
  return (
    <>
      <span class="sr-only">{WORDS[row.kind]}</span>
      <code>
        {draw(before)}
        {marked !== "" && <mark>{draw(marked)}</mark>}
        {draw(after)}
      </code>
      {row.noNewline && <small> no newline at the end</small>}
    </>
  );
}

function NumberCell({ side, line }: { side: Side; line: number | undefined }) {
  if (line === undefined) return <td class="review-number" />;
  return (
    <td class="review-number" data-side={side} data-line={line}>
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Comment on line ${line}${side === "old" ? " before" : ""}`}
        onClick={(event) => {
          // A pointer has chosen the lines already; this is for whoever has none.
          if (event.detail === 0) selection.value = { side, line, endLine: line };
        }}
      >
        {line}
      </button>
    </td>
  );
}

function TextCell({ row, side }: { row: RowResponse | undefined; side: Side }) {
  if (!row) return <td class="review-line" data-kind="none" />;
  const line = side === "new" ? row.new : row.old;
  return (
    <td
      class="review-line"
      data-kind={row.kind}
      data-side={side}
      data-line={line}
      data-chosen={includes(selection.value, side, line) || undefined}
    >
      <span class="review-sign" aria-hidden="true">
        {SIGNS[row.kind]}
      </span>
      <Text row={row} />
    </td>
  );
}

interface HunkProps {
  session: string;
  file: FileKey;
  hunk: HunkResponse;
  split: boolean;
  /** Absent where it cannot be put back. */
  onRevert: (() => void) | undefined;
}

/** Old lines of a comment are those of a commit, which a session or the end of a turn is not. */
const canStand = (side: Side): boolean => !isPast() && (side === "new" || sides.value.base === undefined);

/** Where a comment cannot stand, the way to where it can. */
function NoComment({ session }: { session: string }) {
  return (
    <p class="review-none" data-testid="review-no-comment">
      Comment on a line of the files as they are now.{" "}
      {isPast() && (
        <Button small onClick={() => void changeSides(session, { target: undefined })}>
          Show them
        </Button>
      )}
    </p>
  );
}

/** What stands below a row: its comments, and the field for a new one. */
function Below({ session, file, hunk, rows, split }: Omit<HunkProps, "onRevert"> & { rows: RowResponse[] }) {
  const at = dragging.value ? undefined : selection.value;
  const thread = [...new Set(rows.flatMap((row) => findThread(comments.value, file, row)))].filter(
    ({ side }) => canStand(side),
  );
  const isEnd =
    at !== undefined &&
    rows.some(
      (row) =>
        (at.side === "new" ? row.new : row.old) === at.endLine &&
        row.kind !== (at.side === "new" ? "removed" : "added"),
    );
  const people = isPast() ? [] : [...new Set(rows.flatMap((row) => findAtRow(file, row)))];
  if (thread.length === 0 && people.length === 0 && !isEnd) return null;
  const lines = hunk.rows.filter((row) => includes(at, "new", row.new)).map((row) => row.text);
  return (
    <tr class="review-below">
      <td colSpan={split ? 4 : 3}>
        {thread.map((comment) => (
          <Comment key={comment.id} session={session} comment={comment} />
        ))}
        {people.map((comment) => (
          <ForgeComment key={comment.id} session={session} repo={file.repo} comment={comment} takes />
        ))}
        {isEnd && !canStand(at.side) && <NoComment session={session} />}
        {isEnd && canStand(at.side) && (
          <CommentForm
            key={`${at.side} ${at.line} ${at.endLine}`}
            session={session}
            file={file}
            at={at}
            lines={lines}
          />
        )}
      </td>
    </tr>
  );
}

function UnifiedRows(props: Omit<HunkProps, "onRevert">) {
  return (
    <>
      {props.hunk.rows.map((row, at) => {
        const side: Side = row.new === undefined ? "old" : "new";
        return (
          <Fragment key={at}>
            <tr>
              <NumberCell side="old" line={row.old} />
              <NumberCell side="new" line={row.new} />
              <TextCell row={row} side={side} />
            </tr>
            <Below {...props} rows={[row]} />
          </Fragment>
        );
      })}
    </>
  );
}

function SplitTableRows(props: Omit<HunkProps, "onRevert">) {
  return (
    <>
      {splitRows(props.hunk.rows).map(({ left, right }, at) => (
        <Fragment key={at}>
          <tr>
            <NumberCell side="old" line={left?.old} />
            <TextCell row={left} side="old" />
            <NumberCell side="new" line={right?.new} />
            <TextCell row={right} side="new" />
          </tr>
          <Below
            {...props}
            rows={
              left === right
                ? [left].filter((row) => row !== undefined)
                : [left, right].filter((row) => row !== undefined)
            }
          />
        </Fragment>
      ))}
    </>
  );
}

/** Each side is parsed by itself: together they are no text of the language. */
function useRowColours(place: { current: Element | null }, path: string, { rows }: HunkResponse) {
  const [before, now] = useMemo(
    () => [rows.filter(({ kind }) => kind !== "added"), rows.filter(({ kind }) => kind !== "removed")],
    [rows],
  );
  const texts = useMemo(
    () => [before, now].map((side) => side.map(({ text }) => text).join("\n")),
    [before, now],
  );
  const colours = useColours(place, texts, path);
  return useMemo(() => {
    const found = new Map<RowResponse, readonly Token[]>();
    for (const [side, sideColours] of [
      [before, colours?.[0]],
      [now, colours?.[1]],
    ] as const) {
      side.forEach((row, at) => {
        const tokens = sideColours?.[at];
        if (tokens) found.set(row, tokens);
      });
    }
    return found;
  }, [before, now, colours]);
}

export function HunkTable({ onRevert, ...props }: HunkProps) {
  const { hunk, split } = props;
  const place = useRef<HTMLElement>(null);
  const colours = useRowColours(place, props.file.path, hunk);
  const name = `Lines ${hunk.newStart} to ${hunk.newStart + Math.max(0, hunk.newCount - 1)}`;
  return (
    <section ref={place} class="review-hunk" data-testid="review-hunk" tabIndex={-1} aria-label={name}>
      <header class="review-hunk-head">
        <span>
          {name}
          {hunk.section !== "" && <code>{draw(hunk.section)}</code>}
        </span>
        {onRevert && (
          <Button small onClick={onRevert} label={`Put back: ${name}`} testid="review-revert">
            Put back
          </Button>
        )}
      </header>
      <table class="review-table" data-split={split || undefined}>
        <caption class="sr-only">{name}</caption>
        {split && (
          <colgroup>
            <col class="review-narrow" />
            <col />
            <col class="review-narrow" />
            <col />
          </colgroup>
        )}
        <thead class="sr-only">
          <tr>
            <th scope="col">Line before</th>
            {split && <th scope="col">Text before</th>}
            <th scope="col">Line now</th>
            <th scope="col">{split ? "Text now" : "Text"}</th>
          </tr>
        </thead>
        <RowColours.Provider value={colours}>
          <tbody>{split ? <SplitTableRows {...props} /> : <UnifiedRows {...props} />}</tbody>
        </RowColours.Provider>
      </table>
    </section>
  );
}
