/** One file's diff: its head with figures and buttons, then its lines. */
import type { Ref } from "preact";
import { useLayoutEffect, useMemo, useState, useEffect, useRef } from "preact/hooks";
import {
  type Line,
  type DiffLineKind,
  columns,
  visible,
  type RowSpan,
  spanOf,
  parseDiff,
  selectShownLines,
  hunkFrom,
  totals,
} from "./diff.ts";
import { Button } from "../../../ui/Button.tsx";
import { getErrorText } from "../../../api/errors.ts";
import { api } from "../../../api/client.ts";
import { type Chosen, KINDS, splitPath } from "../texts.ts";
import { copyText } from "../../../ui/clipboard.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { IconButton } from "../../../ui/IconButton.tsx";
import { showError, showToast } from "../../../store/toasts.ts";
import { chosen } from "../state.ts";
import { GitError } from "../FileList.tsx";
import "./diffrows.css";
import "./diff.css";

/** Pixels; `.diff-row` in diffrows.css has the same. */
const ROW = 20;
/** Characters of one line that are drawn: minified files have lines of megabytes. */
const LONGEST = 2_000;

/** Columns of the note behind a line that is cut. */
const NOTE = 50;

const SIGNS: Record<DiffLineKind, string> = { add: "+", del: "−", same: "", head: "", hunk: "", note: "" };
const WORDS: Partial<Record<DiffLineKind, string>> = { add: "added: ", del: "removed: " };

function Text({ line }: { line: Line }) {
  const cut = line.text.length - LONGEST;
  const shown = visible(cut > 0 ? line.text.slice(0, LONGEST) : line.text);
  return (
    <>
      {WORDS[line.kind] && <span class="sr-only">{WORDS[line.kind]}</span>}
      <code>{shown}</code>
      {cut > 0 && <small> … {cut.toLocaleString("en")} more characters; copy the diff to see all</small>}
    </>
  );
}

function Row({ line, at }: { line: Line; at: number }) {
  return (
    <div class="diff-row" role="row" aria-rowindex={at + 1} data-kind={line.kind}>
      <span class="diff-old" role="cell">
        {line.old}
      </span>
      <span class="diff-new" role="cell">
        {line.new}
      </span>
      <span class="diff-sign" aria-hidden="true">
        {SIGNS[line.kind]}
      </span>
      <span class="diff-text" role="cell">
        <Text line={line} />
      </span>
    </div>
  );
}

function useSpan(box: { current: HTMLElement | null }, rows: number): RowSpan {
  const [span, setSpan] = useState<RowSpan>({ first: 0, end: Math.min(rows, 80) });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const next = spanOf(element.scrollTop, element.clientHeight, ROW, rows);
      setSpan((before) => (before.first === next.first && before.end === next.end ? before : next));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [rows]);
  return span;
}

interface DiffRowsProps {
  lines: Line[];
  label: string;
  box: { current: HTMLDivElement | null };
}

interface Measures {
  /** Digits of the largest number, characters of the widest line: the table's width. */
  digits: number;
  widest: number;
}

function measure(lines: readonly Line[]): Measures {
  let [number, widest] = [0, 0];
  for (const line of lines) {
    number = Math.max(number, line.old ?? 0, line.new ?? 0);
    widest = Math.max(widest, columns(line.text.slice(0, LONGEST)));
  }
  return { digits: String(number).length, widest: widest + (widest >= LONGEST ? NOTE : 0) };
}

function DiffRows({ lines, label, box }: DiffRowsProps) {
  const { first, end } = useSpan(box, lines.length);
  const { digits, widest } = useMemo(() => measure(lines), [lines]);
  return (
    <div ref={box as Ref<HTMLDivElement>} class="diff-box" tabIndex={0} data-testid="diff-box">
      <div
        class="diff-table"
        role="table"
        aria-label={label}
        aria-rowcount={lines.length}
        style={{ height: `${lines.length * ROW}px`, "--digits": digits, "--widest": widest }}
      >
        <div class="diff-window" role="rowgroup" style={{ transform: `translateY(${first * ROW}px)` }}>
          {lines.slice(first, end).map((line, n) => (
            <Row key={first + n} line={line} at={first + n} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface Shown {
  lines: Line[];
  text: string;
  truncated: boolean;
  binary: boolean;
}

interface Found {
  /** Which file it is of. */
  key: string;
  shown?: Shown;
  problem?: string;
}

/**
 * @param version another one reads the same file again; its lines stay meanwhile.
 * @returns neither field while the first answer is awaited.
 */
function useDiff(id: string, { repo, path, kind }: Chosen, version: unknown): Omit<Found, "key"> {
  const key = JSON.stringify([id, repo, path, kind]);
  const [found, setFound] = useState<Found>({ key });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    api.get("/api/sessions/{id}/git-diff", { path: { id }, query: { repo, path, kind }, signal }).then(
      ({ diff, ...rest }) => {
        if (!signal.aborted)
          setFound({ key, shown: { text: diff, lines: selectShownLines(parseDiff(diff)), ...rest } });
      },
      (error: unknown) => {
        if (!signal.aborted) setFound({ key, problem: getErrorText(error) });
      },
    );
    return () => controller.abort();
  }, [key, version]);
  return found.key === key ? found : {};
}

async function copy(text: string): Promise<void> {
  if (await copyText(text)) showToast("good", "Copied");
  else showError("Couldn't copy", "Your browser blocked access to the clipboard.");
}

/** Whether the list of files is hidden, as on a phone. */
function isCovering(inside: Element | null): boolean {
  const side = inside?.closest(".git-page")?.querySelector(".git-side");
  return side instanceof HTMLElement && side.offsetParent === null;
}

function goBack(): void {
  const row = document.querySelector<HTMLElement>(".git-file[aria-current]");
  chosen.value = undefined;
  // The list is there again behind what is drawn next.
  queueMicrotask(() => row?.focus());
}

function Head({ file, shown }: { file: Chosen; shown: Shown | undefined }) {
  const { folder, name } = splitPath(file.path);
  const sums = totals(shown?.lines ?? []);
  const title = useRef<HTMLHeadingElement>(null);
  // Where the diff takes the list's place, what had the focus is out of sight.
  useLayoutEffect(() => {
    if (isCovering(title.current)) title.current?.focus();
  }, [file]);
  return (
    <header class="diff-head">
      <IconButton icon="left" class="diff-back" label="Back to files" onClick={goBack} testid="diff-back" />
      <h3 ref={title} class="diff-title" tabIndex={-1}>
        <span class="git-path">
          {folder && (
            <span class="git-folder">
              <bdi>{visible(folder)}</bdi>
            </span>
          )}
          <span class="git-name">
            <bdi>{visible(name)}</bdi>
          </span>
        </span>
        <small>{KINDS.find(([kind]) => kind === file.kind)?.[1].toLowerCase()}</small>
      </h3>
      {shown && !shown.binary && (
        <span class="diff-sums" data-testid="diff-sums">
          <span data-kind="add">+{sums.added.toLocaleString("en")}</span>
          <span data-kind="del">−{sums.removed.toLocaleString("en")}</span>
        </span>
      )}
    </header>
  );
}

function Lines({ file, shown }: { file: Chosen; shown: Shown }) {
  const box = useRef<HTMLDivElement>(null);
  const jump = (step: 1 | -1) => {
    const element = box.current;
    if (!element) return;
    const at = Math.round(element.scrollTop / ROW);
    const to = hunkFrom(shown.lines, at, step);
    if (to !== undefined) element.scrollTo({ top: to * ROW, left: 0 });
  };
  return (
    <>
      <div class="diff-tools" role="toolbar" aria-label="Diff">
        <IconButton icon="up" label="Previous change" onClick={() => jump(-1)} testid="diff-previous" />
        <IconButton icon="down" label="Next change" onClick={() => jump(1)} testid="diff-next" />
        <span class="spring" />
        <Button small onClick={() => void copy(shown.text)} testid="diff-copy">
          <Icon name="copy" size={15} /> Copy diff
        </Button>
        <Button small onClick={() => void copy(file.path)}>
          Copy path
        </Button>
      </div>
      {shown.truncated && (
        <p class="diff-note" data-testid="diff-truncated">
          <Icon name="alert" size={15} /> Showing only the first 400 KB.
        </p>
      )}
      <DiffRows lines={shown.lines} label={`Diff of ${file.path}`} box={box} />
    </>
  );
}

function Nothing({ text }: { text: string }) {
  return (
    <p class="git-none" data-testid="diff-none">
      {text}
    </p>
  );
}

function Body({ file, shown }: { file: Chosen; shown: Shown }) {
  if (shown.binary) return <Nothing text="Binary file. No lines to show." />;
  if (shown.lines.length === 0) return <Nothing text="The content is the same." />;
  return <Lines file={file} shown={shown} />;
}

/** @param readAt when the status was read last: the file may have changed with it. */
export function DiffView({ session, file, readAt }: { session: string; file: Chosen; readAt: number }) {
  const [turn, setTurn] = useState(0);
  const { shown, problem } = useDiff(session, file, `${readAt} ${turn}`);
  const waiting = shown === undefined && problem === undefined;
  return (
    <section class="diff" aria-label={`Diff of ${file.path}`} aria-busy={waiting}>
      <Head file={file} shown={shown} />
      {waiting && <p class="git-none dim">Loading…</p>}
      {problem !== undefined && <GitError problem={problem} onRetry={() => setTurn(turn + 1)} />}
      {shown && <Body file={file} shown={shown} />}
    </section>
  );
}
