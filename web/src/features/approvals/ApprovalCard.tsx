/** One item of the inbox. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { openPage } from "../../ui/pages/registry.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionList } from "../../store/state.ts";
import { Command } from "../../ui/Command.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { showError } from "../../store/toasts.ts";
import "./approvals.css";
import { answer, answering, dismiss, answerProblems, isUndoable, undoDismiss } from "./actions.ts";
import { ApproveOrDeny, MultipleChoice, SingleChoice, TextAnswer } from "./Choices.tsx";
import {
  type Answer,
  asksToRun,
  getForm,
  isKnown,
  isShell,
  type ApprovalItemResponse,
  describeMissing,
  getRisk,
  acceptsText,
} from "./item.ts";
import { describeSent, isJustSent } from "./sent.ts";
import { describeAsk, formatAge, getOwnMessage } from "./texts.ts";

function visit(item: ApprovalItemResponse): void {
  select(item.sessionId);
  openPage.value = undefined;
}

export function Dismiss({ item }: { item: ApprovalItemResponse }) {
  return (
    <button
      type="button"
      class="button small approval-dismiss"
      title="Remove from the inbox; the dialog stays open in the terminal"
      onClick={() => dismiss(item)}
      data-key="e"
      data-testid="approval-dismiss"
    >
      Dismiss <span class="sr-only">the item of {item.sessionName}</span>
      <kbd aria-hidden="true">E</kbd>
    </button>
  );
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

/** The plan that an agent asks to carry out; the code that draws Markdown comes with the first one. */
const PlanText = lazySlot(async () => (await import("../files/Preview.tsx")).Preview, {
  failed: (error) => showError("Couldn't show the plan", error),
  waiting: (_, { text }) => <p class="plain-text">{text}</p>,
});

/** The whole of it scrolls; what is not there is said. */
export function ToolSummary({ item }: { item: ApprovalItemResponse }) {
  if (!item.toolName || item.kind === "question") return null;
  const text = item.plan === undefined ? item.toolSummary : undefined;
  const missing = describeMissing(item);
  return (
    <>
      {text && (
        <p class="approval-tool">
          <Command text={text} plain={!isShell(item)} />
        </p>
      )}
      {item.plan !== undefined && (
        <div class="approval-plan" tabIndex={0} role="group" aria-label="Plan" data-testid="approval-plan">
          <PlanText text={item.plan} />
        </div>
      )}
      {missing && (
        <p class="approval-unknown" data-testid="approval-missing">
          <Icon name="help" size={16} /> {missing}
        </p>
      )}
    </>
  );
}

function UnknownCommand() {
  return (
    <p class="approval-unknown" data-testid="approval-unknown">
      <Icon name="help" size={16} /> Unknown command. Check the terminal before you answer.
    </p>
  );
}

export function RiskHint({ item }: { item: ApprovalItemResponse }) {
  const risk = getRisk(item);
  if (risk === undefined) return isKnown(item) || !asksToRun(item) ? null : <UnknownCommand />;
  return (
    <p class="approval-risk" data-testid="approval-risk">
      <Icon name="alert" size={16} /> Hint: {risk}
    </p>
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

const FORMS = { single: SingleChoice, multiple: MultipleChoice, blind: ApproveOrDeny } as const;

function AnswerForm({ item, busy }: { item: ApprovalItemResponse; busy: boolean }) {
  const form = getForm(item);
  const give = (chosen: Answer) => void answer(item, chosen);
  const Form = form === "idle" ? undefined : FORMS[form];
  return (
    <>
      {Form && <Form key={item.frame} item={item} busy={busy} onAnswer={give} />}
      {acceptsText(item) && (
        <TextAnswer item={item} busy={busy} onSend={(text) => answer(item, { action: "text", text })} />
      )}
    </>
  );
}

function Undo({ item }: { item: ApprovalItemResponse }) {
  return (
    <button
      type="button"
      class="button small"
      onClick={() => undoDismiss(item.id)}
      data-key="u"
      data-testid="approval-undo"
    >
      Undo <kbd aria-hidden="true">U</kbd>
    </button>
  );
}

/** The ways to answer; then what was sent, as high as they were, so that nothing moves below. */
export function AnswerArea({ item, closed }: { item: ApprovalItemResponse; closed: boolean }) {
  const busy = answering.value.has(item.id);
  const place = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    if (!closed && place.current) height.current = place.current.offsetHeight;
  });
  return (
    <div ref={place} class="approval-answers" style={closed ? { minHeight: `${height.current}px` } : {}}>
      {closed ? (
        <p class="approval-sent" role="status" data-testid="approval-sent">
          <Icon name="check" size={16} /> <span>{busy ? "Sending…" : describeSent(item.id)}</span>
          {isUndoable(item.id) && <Undo item={item} />}
        </p>
      ) : (
        <AnswerForm item={item} busy={busy} />
      )}
    </div>
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
