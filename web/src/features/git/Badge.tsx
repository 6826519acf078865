/** A workspace in a few figures: in the line below the terminal, on tabs and in the list. */
import { useComputed } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { GIT_PAGE, openPage } from "../../ui/pages/registry.ts";
import { Icon } from "../../ui/Icon.tsx";
import "./badge.css";
import { answers } from "./state.ts";
import { listFigures, formatSummary, summarizeStatus, type Summary } from "./summary.ts";

const UNCOUNTED = 99;

function summaryOf(id: string): Summary | undefined {
  const status = answers.value.get(id)?.status;
  return status && summarizeStatus(status);
}

function Figures({ summary }: { summary: Summary }) {
  return (
    <>
      <span class="git-head">{summary.head}</span>
      {summary.ahead > 0 && <span>↑{summary.ahead}</span>}
      {summary.behind > 0 && <span>↓{summary.behind}</span>}
      {listFigures(summary).map(({ mark, count, kind }) => (
        <span key={kind} data-kind={kind}>
          {mark}
          {count}
        </span>
      ))}
      {summary.trouble !== undefined && (
        <span class="git-alert">
          <Icon name="alert" size={13} />
        </span>
      )}
    </>
  );
}

/** The whole of it, and the way to the page. */
export function GitChip({ session }: { session: Session }) {
  const summary = useComputed(() => summaryOf(session.id)).value;
  if (!summary) return null;
  const text = formatSummary(summary);
  return (
    <button
      type="button"
      class="git-chip"
      data-tip={text}
      aria-description={`${text}. Show changes`}
      onClick={() => (openPage.value = GIT_PAGE)}
      data-testid="git-chip"
    >
      <Icon name="branch" size={14} />
      <Figures summary={summary} />
    </button>
  );
}

/** The same for a row of the list, where the row itself is the button. */
export function GitRow({ session }: { session: Session }) {
  const summary = summaryOf(session.id);
  if (!summary) return null;
  return (
    <span class="git-row" role="img" aria-label={formatSummary(summary)} data-testid="git-row">
      <Icon name="branch" size={13} />
      <Figures summary={summary} />
    </span>
  );
}

/** On a tab there is room for one figure: how many paths are not committed. */
export function GitMark({ session }: { session: Session }) {
  const summary = summaryOf(session.id);
  const count = summary?.counts.uncommitted ?? 0;
  if (!summary || count === 0) return null;
  return (
    <span
      class="git-mark"
      data-tip={formatSummary(summary)}
      data-kind={summary.counts.conflicted > 0 ? "conflicted" : undefined}
      data-testid="git-mark"
    >
      <span aria-hidden="true">±{count > UNCOUNTED ? `${UNCOUNTED}+` : count}</span>
      <span class="sr-only">{formatSummary(summary)}</span>
    </span>
  );
}
