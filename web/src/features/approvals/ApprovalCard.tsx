/** One item of the inbox. */
import { openPage } from "../../ui/pages/registry.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionList } from "../../store/state.ts";
import { Command } from "../../ui/Command.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { answer, answering, dismiss, answerProblems } from "./actions.ts";
import { ApproveOrDeny, MultipleChoice, SingleChoice } from "./Choices.tsx";
import { Context } from "./Context.tsx";
import {
  type Answer,
  getForm,
  isKnown,
  isShell,
  type ApprovalItemResponse,
  describeMissing,
  getRisk,
  acceptsText,
} from "./item.ts";
import { TextAnswer } from "./TextAnswer.tsx";
import { formatAge, getKindLabel, getOwnMessage } from "./texts.ts";

function visit(item: ApprovalItemResponse): void {
  select(item.sessionId);
  openPage.value = undefined;
}

function Head({ item, now }: { item: ApprovalItemResponse; now: number }) {
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
          {getKindLabel(item.kind)} ·{" "}
          <time dateTime={new Date(item.createdAt).toISOString()}>{formatAge(item.createdAt, now)}</time>
        </small>
      </span>
      <button
        type="button"
        class="button small approval-dismiss"
        aria-label={`Dismiss the item of ${item.sessionName}`}
        title="Remove from the inbox; the dialog stays open in the terminal"
        onClick={() => void dismiss(item)}
        data-testid="approval-dismiss"
      >
        Dismiss
      </button>
    </header>
  );
}

/** The whole of it scrolls; what is not there is said. */
export function ToolSummary({ item }: { item: ApprovalItemResponse }) {
  if (!item.toolName || item.kind === "question") return null;
  const missing = describeMissing(item);
  return (
    <>
      <p class="approval-tool">
        <span class="badge">{item.toolName}</span>
        {item.toolSummary && <Command text={item.toolSummary} plain={!isShell(item)} />}
      </p>
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
  if (risk === undefined) return isKnown(item) ? null : <UnknownCommand />;
  return (
    <p class="approval-risk" data-testid="approval-risk">
      <Icon name="alert" size={16} /> Hint: {risk}
    </p>
  );
}

/** Show terminal; folded where the card says all of it in its own words. */
function TerminalScreen({ item, text }: { item: ApprovalItemResponse; text: string }) {
  const told = item.kind === "question" && getOwnMessage(item) !== undefined && getForm(item) !== "blind";
  if (!told) return <Context text={text} />;
  return (
    <details class="approval-shown" data-testid="approval-shown">
      <summary>Show terminal</summary>
      <Context text={text} />
    </details>
  );
}

const FORMS = { single: SingleChoice, multiple: MultipleChoice, blind: ApproveOrDeny } as const;

export function AnswerForm({ item, busy }: { item: ApprovalItemResponse; busy: boolean }) {
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

const TYPING = "textarea, input:not([type=checkbox]), select";

/** A digit presses the option of that number, as it would in the terminal. */
function pressDigit(event: KeyboardEvent): void {
  const card = event.currentTarget as HTMLElement;
  const plain = !event.ctrlKey && !event.altKey && !event.metaKey;
  if (!plain || !/^[1-9]$/.test(event.key) || (event.target as Element).matches(TYPING)) return;
  const way = card.querySelector<HTMLElement>(
    `[data-testid="approval-option-${event.key}"], [data-digit="${event.key}"]`,
  );
  if (!way) return;
  event.preventDefault();
  way.click();
}

export function ApprovalCard({ item, now }: { item: ApprovalItemResponse; now: number }) {
  const busy = answering.value.has(item.id);
  const message = getOwnMessage(item);
  const trouble = answerProblems.value.get(item.id);
  const color = sessionList.value.byId.get(item.sessionId)?.color ?? "default";
  return (
    <article
      class="approval"
      data-kind={item.kind}
      data-color={color}
      data-testid="approval"
      data-approval={item.id}
      data-frame={item.frame}
      data-session={item.sessionId}
      aria-busy={busy}
      aria-label={`${item.sessionName} ${getKindLabel(item.kind)}`}
      tabIndex={-1}
      onKeyDown={pressDigit}
    >
      <Head item={item} now={now} />
      <ToolSummary item={item} />
      <RiskHint item={item} />
      {message && <p class="approval-message">{message}</p>}
      {item.context && <TerminalScreen item={item} text={item.context} />}
      {trouble && (
        <p class="problem" role="alert" data-testid="approval-trouble">
          <Icon name="alert" /> {trouble}
        </p>
      )}
      <AnswerForm item={item} busy={busy} />
    </article>
  );
}
