/** Every session as a card: what it shows, what it waits for, and nothing else than one decides on. */
import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { SessionChips } from "../agents/SessionChips.tsx";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import type { Session } from "../../api/types.ts";
import { RiskHint, ToolSummary, AnswerForm } from "../approvals/ApprovalCard.tsx";
import { answering, answerProblems } from "../approvals/actions.ts";
import { isUrgent } from "../approvals/inbox.ts";
import { approvalOf, needsYou } from "../approvals/state.ts";
import { getOwnMessage } from "../approvals/texts.ts";
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

function Question({ session }: { session: Session }) {
  const item = approvalOf(session.id);
  if (!item || !isUrgent(item)) return null;
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
      <AnswerForm item={item} busy={answering.value.has(item.id)} />
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

function Card({ session, now }: { session: Session; now: number }) {
  const { word, reason, state } = getCurrentStatus(session);
  const waits = needsYou(session.id);
  return (
    <article class="fleet-card" data-color={session.color} data-state={state} data-testid="fleet-card">
      <button type="button" class="fleet-head" onClick={() => select(session.id)} data-testid="fleet-visit">
        <StatusDot session={session} />
        <span class="fleet-name">{session.name}</span>
        <span class="badge">{cliOf(session.mode)?.shortBadge ?? session.mode}</span>
      </button>
      <p class="fleet-state">
        <span>{!waits && reason ? reason : word}</span>
        <span class="dim">
          {shortenPath(session.workingDir)} · {formatAgo(session.lastActivityAt, now)}
        </span>
      </p>
      {livePid(session) === null ? <Ended session={session} /> : <Lines session={session} />}
      {waits && <Question session={session} />}
      <footer class="fleet-foot">
        <GitRow session={session} />
        <SessionChips session={session} />
      </footer>
    </article>
  );
}

export function FleetPage() {
  const now = useNow();
  const cards = useComputed(() => sessions.value.toSorted((a, b) => rank(a) - rank(b)));
  const waiting = cards.value.filter(({ id }) => needsYou(id)).length;
  const create = () => (newSessionOpen.value = true);
  return (
    <div class="fleet">
      <div class="fleet-sum">
        <p data-testid="fleet-sum">
          {plural(cards.value.length, "session")}
          {waiting > 0 && <b> · {waiting === 1 ? "1 needs" : `${waiting} need`} you</b>}
        </p>
        <button type="button" class="button small" onClick={create}>
          <Icon name="plus" size={14} /> New session
        </button>
      </div>
      <div class="fleet-cards">
        {cards.value.map((session) => (
          <Card key={session.id} session={session} now={now} />
        ))}
      </div>
    </div>
  );
}

/** Whoever waits for a person, whoever works, the rest, and what has ended. */
function rank(session: Session): number {
  if (needsYou(session.id)) return 0;
  if (livePid(session) === null) return 3;
  return session.status === "busy" ? 1 : 2;
}
