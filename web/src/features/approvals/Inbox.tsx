/** Everything that waits for a person, oldest first. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { activeId, sessionList } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { openPage } from "../../ui/pages/registry.ts";
import { select } from "../../ui/pages/select.ts";
import { useNow } from "../../ui/useNow.ts";
import { answering, answerProblems, keepsPlace } from "./actions.ts";
import { AnswerArea, Dismiss, RiskHint, ToolSummary } from "./ApprovalCard.tsx";
import { useCardKeys } from "./cardkeys.ts";
import "./inbox.css";
import { type ApprovalItemResponse, getForm } from "./item.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import { inboxAsked, wantedCard } from "./openinbox.ts";
import { isJustSent } from "./sent.ts";
import { openItems, refresh } from "./state.ts";
import { describeAsk, formatAge, getOwnMessage } from "./cardtexts.ts";
import { useHeld, usePointerInside } from "./useHeld.ts";

function visit(item: ApprovalItemResponse): void {
  select(item.sessionId);
  openPage.value = undefined;
}

interface HeadProps {
  item: ApprovalItemResponse;
  now: number;
  closed: boolean;
}

function Head({ item, now, closed }: HeadProps) {
  return (
    <header class="approval-head">
      <span class="approval-mark" data-kind={item.kind}>
        <Icon
          name={item.kind === "permission" ? "alert" : item.kind === "question" ? "help" : "check"}
          size={16}
        />
      </span>
      <span class="approval-who">
        <button type="button" class="approval-name" onClick={() => visit(item)} data-testid="approval-visit">
          {item.sessionName}
        </button>
        <small>
          {describeAsk(item)} ·{" "}
          <time dateTime={new Date(item.createdAt).toISOString()}>{formatAge(item.createdAt, now)}</time>
        </small>
      </span>
      {!closed && <Dismiss item={item} />}
    </header>
  );
}

/** The captured lines; the newest, which hold the dialog, are the ones in sight. */
function Context({ text }: { text: string }) {
  const ref = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  return (
    <pre
      ref={ref}
      class="approval-context"
      tabIndex={0}
      aria-label="Terminal screen"
      data-testid="approval-context"
    >
      {text}
    </pre>
  );
}

/** Show terminal; folded where the card says all of it in its own words. */
function TerminalScreen({ item, text }: { item: ApprovalItemResponse; text: string }) {
  const asked = item.kind === "question" && getOwnMessage(item) !== undefined && getForm(item) !== "blind";
  const told = asked || item.plan !== undefined;
  if (!told) return <Context text={text} />;
  return (
    <details class="approval-shown" data-testid="approval-shown">
      <summary>Show terminal</summary>
      <Context text={text} />
    </details>
  );
}

interface CardProps {
  item: ApprovalItemResponse;
  now: number;
  /** It left the inbox and keeps its place for now. */
  gone?: boolean;
}

export function ApprovalCard({ item, now, gone = false }: CardProps) {
  const closed = gone || isJustSent(item.id);
  const busy = answering.value.has(item.id);
  const message = getOwnMessage(item);
  const trouble = answerProblems.value.get(item.id);
  const card = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // The button that was pressed is gone: the next key must not reach another card.
    if (closed && document.activeElement === document.body) card.current?.focus({ preventScroll: true });
  }, [closed]);
  const color = sessionList.value.byId.get(item.sessionId)?.color ?? "default";
  return (
    <article
      ref={card}
      class="approval"
      data-closed={closed}
      data-kind={item.kind}
      data-color={color}
      data-testid={closed ? "approval-closed" : "approval"}
      data-approval={item.id}
      data-frame={item.frame}
      data-session={item.sessionId}
      aria-busy={busy}
      aria-label={`${item.sessionName} ${describeAsk(item)}`}
      tabIndex={-1}
      data-card
    >
      <Head item={item} now={now} closed={closed} />
      <ToolSummary item={item} />
      <RiskHint item={item} />
      {message && <p class="approval-message">{message}</p>}
      {item.context && <TerminalScreen item={item} text={item.context} />}
      {trouble && (
        <p class="problem" role="alert" data-testid="approval-trouble">
          <Icon name="alert" /> {trouble}
        </p>
      )}
      <AnswerArea item={item} closed={closed} />
    </article>
  );
}

function Nothing() {
  return (
    <div class="approvals-none" data-testid="approvals-none">
      <Icon name="check" size={28} />
      <p>Nothing to answer.</p>
      <small>Agents appear here when they ask for permission, ask a question or are done.</small>
    </div>
  );
}

/**
 * Focus the card that was asked for, and nothing until it is there; without one, that of the session
 * in front, or the oldest.
 */
function focusCard(list: Element): void {
  const cards = [...list.querySelectorAll<HTMLElement>(".approval:not([data-closed=true])")];
  const cardOf = (id: string | undefined) => cards.find((each) => each.dataset["session"] === id);
  const wanted = wantedCard.peek();
  const card = wanted === undefined ? (cardOf(activeId.peek()) ?? cards[0]) : cardOf(wanted);
  if (card) wantedCard.value = undefined;
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

/** Whether a card may take the focus: a digit typed elsewhere must never answer anything. */
function isFree(list: Element): boolean {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return true;
  return focused.tagName === "H2" && list.closest("dialog, aside")?.contains(focused) === true;
}

/** Bring the person to the card that was asked for, and to the next one once that is answered. */
function useFocus(ids: string) {
  const list = useRef<HTMLDivElement>(null);
  const met = useRef(0);
  const asked = inboxAsked.value;
  const known = hasReceivedInit.value;
  // Once the frame around it is open: nothing in a closed dialog takes the focus.
  useEffect(() => {
    if (!list.current || !known || (met.current === asked && !isFree(list.current))) return;
    met.current = asked;
    focusCard(list.current);
  }, [ids, asked, known]);
  return list;
}

export function Inbox() {
  const now = useNow();
  const items = openItems.value;
  const { inside, ...pointer } = usePointerInside();
  const shown = useHeld(items, (item) => item.id, keepsPlace, inside && items.length > 0);
  const list = useFocus(shown.map(({ item }) => item.id).join());
  useCardKeys(list);
  useEffect(() => {
    void refresh();
    return () => (wantedCard.value = undefined);
  }, []);
  return (
    <div class="approvals" ref={list} data-testid="approvals" {...pointer}>
      <p class="sr-only" role="status">
        {items.length === 0 ? "Nothing to answer." : `${plural(items.length, "session")} waiting`}
      </p>
      {shown.length === 0 ? (
        <Nothing />
      ) : (
        shown.map(({ item, gone }) => <ApprovalCard key={item.id} item={item} now={now} gone={gone} />)
      )}
    </div>
  );
}
