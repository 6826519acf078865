/** Every session as a card: what it shows, what it waits for, and nothing else than one decides on. */
import { useEffect, useRef } from "preact/hooks";
import { SessionChips } from "../agents/SessionChips.tsx";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import type { Session } from "../../api/types.ts";
import { AnswerArea, Dismiss, RiskHint, ToolSummary } from "../approvals/ApprovalCard.tsx";
import { answerProblems, keepsPlace } from "../approvals/actions.ts";
import { useCardKeys } from "../approvals/cardkeys.ts";
import type { Held } from "../approvals/held.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { isJustSent } from "../approvals/sent.ts";
import {
  attentionRank,
  finishedSessions,
  needsYou,
  openItems,
  sessionsNeedingPerson,
} from "../approvals/state.ts";
import { describeAsk, getOwnMessage } from "../approvals/texts.ts";
import { useHeld, usePointerInside } from "../approvals/useHeld.ts";
import { GitRow } from "../git/Badge.tsx";
import { formatAgo } from "../../lib/ago.ts";
import { plural, shortenPath } from "../../lib/format.ts";
import { start } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { newSessionOpen } from "../../ui/pages/openpanels.ts";
import { describeExit, livePid } from "../sessions/status.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { cliOf, sessions } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import "./fleet.css";
import { follow, screens } from "./screens.ts";

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

/** Its screen is read only while the card is in view. */
function Lines({ session }: { session: Session }) {
  const ref = useRef<HTMLPreElement>(null);
  useEffect(() => {
    let stop: (() => void) | undefined;
    const watcher = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) stop ??= follow(session.id);
      else {
        stop?.();
        stop = undefined;
      }
    });
    if (ref.current) watcher.observe(ref.current);
    return () => {
      watcher.disconnect();
      stop?.();
    };
  }, [session.id]);
  const text = screens.value.get(session.id);
  return (
    <pre ref={ref} class="fleet-lines" aria-hidden="true" data-testid="fleet-lines">
      {text ?? <span class="fleet-blank">Loading screen…</span>}
      {text === "" && <span class="fleet-blank">The screen is empty.</span>}
    </pre>
  );
}

/** Why there are no lines, and the way on. */
function Ended({ session }: { session: Session }) {
  return (
    <div class="fleet-ended" data-testid="fleet-ended">
      <p>{describeExit(session)}</p>
      <button
        type="button"
        class="button small"
        aria-label={`${session.detached ? "Attach" : "Start"} ${session.name}`}
        onClick={() => void start(session.id)}
        data-testid="fleet-start"
      >
        {session.detached ? "Attach" : "Start"}
      </button>
    </div>
  );
}

interface CardProps {
  session: Session;
  now: number;
  /** What it asks, or asked a moment ago. */
  asked: Held<ApprovalItemResponse> | undefined;
}

function Card({ session, now, asked }: CardProps) {
  const { word, reason, state } = getCurrentStatus(session);
  const said = asked && needsYou(session.id) ? describeAsk(asked.item) : (reason ?? word);
  return (
    <article
      class="fleet-card"
      data-color={session.color}
      data-state={state}
      data-testid="fleet-card"
      aria-label={`${session.name} ${said}`}
      tabIndex={-1}
      data-card
    >
      <button type="button" class="fleet-head" onClick={() => select(session.id)} data-testid="fleet-visit">
        <StatusDot session={session} />
        <span class="fleet-name">{session.name}</span>
        <span class="badge">{cliOf(session.mode)?.shortBadge ?? session.mode}</span>
      </button>
      <p class="fleet-state">
        <span>{said}</span>
        <span class="dim">
          {shortenPath(session.workingDir)} · {formatAgo(session.lastActivityAt, now)}
        </span>
      </p>
      {livePid(session) === null ? <Ended session={session} /> : <Lines session={session} />}
      {asked && <Question {...asked} />}
      <footer class="fleet-foot">
        <GitRow session={session} />
        <SessionChips session={session} />
      </footer>
    </article>
  );
}

/** The question of each session; one that was just answered before the next one of its session. */
function mapQuestions(held: readonly Held<ApprovalItemResponse>[]) {
  const found = new Map<string, Held<ApprovalItemResponse>>();
  for (const each of held) {
    const other = found.get(each.item.sessionId);
    if (!other || !keepsPlace(other.item.id)) found.set(each.item.sessionId, each);
  }
  return found;
}

export function FleetPage() {
  const now = useNow();
  const { inside, ...pointer } = usePointerInside();
  const sorted = sessions.value.toSorted((a, b) => rank(a) - rank(b));
  const items = openItems.value;
  const questions = useHeld(items, ({ id }) => id, keepsPlace, inside && items.length > 0);
  const holds = inside || questions.some(({ gone }) => gone);
  const cards = useHeld(sorted, ({ id }) => id, never, holds);
  const asked = mapQuestions(questions);
  const [waiting, done] = [sessionsNeedingPerson.value.size, finishedSessions.value.size];
  const list = useRef<HTMLDivElement>(null);
  useCardKeys(list);
  const create = () => (newSessionOpen.value = true);
  return (
    <div class="fleet">
      <div class="fleet-sum">
        <p data-testid="fleet-sum">
          {plural(sorted.length, "session")}
          {waiting > 0 && <b> · {waiting === 1 ? "1 needs" : `${waiting} need`} you</b>}
          {done > 0 && <b class="done"> · {done} done</b>}
        </p>
        <button type="button" class="button small" onClick={create}>
          <Icon name="plus" size={14} /> New session
        </button>
      </div>
      <div class="fleet-cards" ref={list} {...pointer}>
        {cards
          .filter(({ gone }) => !gone)
          .map(({ item: session }) => (
            <Card key={session.id} session={session} now={now} asked={asked.get(session.id)} />
          ))}
      </div>
    </div>
  );
}

const never = (): boolean => false;

/** Whoever waits for a person, who is done, whoever works, the rest, and what has ended. */
function rank(session: Session): number {
  const wanted = attentionRank(session.id);
  if (wanted < 2) return wanted;
  if (livePid(session) === null) return 4;
  return session.status === "busy" ? 2 : 3;
}
