/**
 * The lines of a diff. Only those near what is seen are in the page: 400 KB may be 200,000 lines.
 *
 * For screen readers it is a table that knows how many rows it has; each row says in words
 * whether it was added or removed, and the signs say it to whoever sees no colours.
 */
import type { Ref } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import "./diffrows.css";
import { type Line, type DiffLineKind, columns, visible, type RowSpan, spanOf } from "./diff.ts";

/** Pixels; `.diff-row` in diffrows.css has the same. */
export const ROW = 20;
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

interface Props {
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

export function DiffRows({ lines, label, box }: Props) {
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
