/** One session of the fleet in a line, or as a card where it asks for something. */
import { useRef } from "preact/hooks";
import { SessionChips } from "../agents/SessionChips.tsx";
import { AnswerArea, Dismiss, RiskHint, ToolSummary } from "../approvals/ApprovalCard.tsx";
import { answerProblems } from "../approvals/actions.ts";
import type { Held } from "../approvals/held.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { isJustSent } from "../approvals/sent.ts";
import { describeAsk, getOwnMessage } from "../approvals/cardtexts.ts";
import { CheckChips } from "../checks/CheckChips.tsx";
import { NoticeMarks } from "../notifications/NoticeMarks.tsx";
import { GitRow } from "../git/Badge.tsx";
import { PullChip } from "../review/forge/PullMark.tsx";
import { ReviewChip } from "../review/ReviewChip.tsx";
import { shortenPath } from "../../lib/format.ts";
import { start } from "../sessions/actions.ts";
import { openSessionMenu } from "../sessions/menu.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { livePid } from "../sessions/status.ts";
import { Servers } from "../webtabs/Servers.tsx";
import { cliOf } from "../../store/state.ts";
import { select } from "../../ui/pages/select.ts";
import { useLongPress } from "../../ui/useLongPress.ts";
import { describeAge, describeWork, type Entry, formatCost } from "./rules.ts";
import { choose, chooseThrough, isChosen, selecting } from "./selection.ts";

function Question({ item, gone }: Held<ApprovalItemResponse>) {
  const closed = gone || isJustSent(item.id);
  const message = getOwnMessage(item);
  const trouble = answerProblems.value.get(item.id);
  return (
    <div class="fleet-question" data-testid="fleet-question">
      <ToolSummary item={item} />
      <RiskHint item={item} />
      {message && <p class="approval-message">{message}</p>}
      {trouble && (
        <p class="problem" role="alert">
          {trouble}
        </p>
      )}
      <AnswerArea item={item} closed={closed} />
      {!closed && <Dismiss item={item} />}
    </div>
  );
}

function StartButton({ session }: Pick<Entry, "session">) {
  const word = session.detached ? "Attach" : "Start";
  return (
    <button
      type="button"
      class="button small"
      aria-label={`${word} ${session.name}`}
      onClick={() => void start(session.id)}
      data-testid="fleet-start"
    >
      {word}
    </button>
  );
}

interface Props {
  entry: Entry;
  now: number;
  /** What it asks, or asked a moment ago. */
  asked: Held<ApprovalItemResponse> | undefined;
  /** All sessions as they stand, for a choice of many. */
  shown: readonly string[];
  reachable: boolean;
}

const isWanted = (event: MouseEvent): boolean => event.ctrlKey || event.metaKey || event.shiftKey;

export function Row({ entry, now, asked, shown, reachable }: Props) {
  const { session, status, agent } = entry;
  const main = useRef<HTMLButtonElement>(null);
  const press = useLongPress(() => choose(session.id, true));
  const said = asked ? describeAsk(asked.item) : describeWork(entry, now);
  const visit = (event: MouseEvent) => {
    if (event.shiftKey) chooseThrough(session.id, shown);
    else if (isWanted(event) || selecting.value) choose(session.id);
    else select(session.id);
  };
  const menu = (event: MouseEvent) => {
    press.onContextMenu(event);
    if (event.defaultPrevented) return;
    event.preventDefault();
    const box = (event.currentTarget as Element).getBoundingClientRect();
    openSessionMenu(session, event.clientX || box.left, event.clientY || box.bottom);
  };
  const key = (event: KeyboardEvent) => {
    if (event.target === main.current && event.key === " ") {
      event.preventDefault();
      choose(session.id);
    }
  };
  const cost = formatCost(session);
  return (
    <li
      class={asked ? "fleet-card" : "fleet-row"}
      data-color={session.color}
      data-state={status.state}
      data-chosen={isChosen(session.id)}
      data-testid={asked ? "fleet-card" : "fleet-row"}
      aria-label={`${session.name} ${said}`}
      tabIndex={asked ? -1 : undefined}
      data-card={asked ? true : undefined}
      onKeyDown={key}
      {...press}
      onContextMenu={menu}
    >
      <div class="fleet-line">
        <label class="fleet-box" hidden={!selecting.value}>
          <input
            type="checkbox"
            checked={isChosen(session.id)}
            aria-label={`Select ${session.name}`}
            onChange={() => choose(session.id)}
            data-testid="fleet-choose"
          />
        </label>
        <button
          ref={main}
          type="button"
          class="fleet-main"
          tabIndex={reachable ? 0 : -1}
          title={session.workingDir}
          aria-keyshortcuts="Space"
          onClick={visit}
          data-testid="fleet-visit"
        >
          <StatusDot session={session} />
          <span class="fleet-title">
            <span class="fleet-name">{session.name}</span>
            <NoticeMarks session={session} />
          </span>
          <span class="badge" title={agent}>
            {cliOf(session.mode)?.shortBadge ?? session.mode}
          </span>
          <span class="fleet-what" data-testid="fleet-what">
            {said}
          </span>
        </button>
        <span class="fleet-facts">
          <Servers session={session} />
          {livePid(session) === null && <StartButton session={session} />}
          <GitRow session={session} />
          <CheckChips session={session} />
          <ReviewChip session={session} />
          <PullChip session={session} />
          {cost && <span title="Cost so far">{cost}</span>}
        </span>
        <span class="fleet-age">{describeAge(entry, now, asked?.item.createdAt)}</span>
      </div>
      {asked && <Question {...asked} />}
      {asked && (
        <footer class="fleet-foot">
          <span>{shortenPath(session.workingDir)}</span>
          <SessionChips session={session} />
        </footer>
      )}
    </li>
  );
}
