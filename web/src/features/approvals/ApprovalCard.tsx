/** The parts of a card that asks something, in the inbox and in the fleet: what it asks, and the ways to answer. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../ui/Button.tsx";
import { Command } from "../../ui/Command.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { showError } from "../../store/toasts.ts";
import "./approvals.css";
import { answer, answering, dismiss, isUndoable, undoDismiss } from "./actions.ts";
import { ApproveOrDeny, DenyWithReason, MultipleChoice, SingleChoice, TextAnswer } from "./Choices.tsx";
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
import { RuleButtons } from "../rules/RuleButtons.tsx";
import { openReview } from "../review/open.ts";
import { describeSent } from "./sent.ts";

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

/** The plan that an agent asks to carry out; the code that draws Markdown comes with the first one. */
const PlanText = lazySlot(async () => (await import("../files/Preview.tsx")).Preview, {
  failed: (error) => showError("Couldn't show the plan", error),
  waiting: (_, { text }) => <p class="plain-text">{text}</p>,
});

/** Tools that change a file, whose path is their summary. */
const EDITS: ReadonlySet<string> = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit"]);

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
          {EDITS.has(item.toolName) && (
            <Button small onClick={() => openReview(item.sessionId, text)} testid="approval-review">
              Review changes
            </Button>
          )}
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

const FORMS = { single: SingleChoice, multiple: MultipleChoice, blind: ApproveOrDeny } as const;

function AnswerForm({ item, busy }: { item: ApprovalItemResponse; busy: boolean }) {
  const form = getForm(item);
  const give = (chosen: Answer) => void answer(item, chosen);
  const Form = form === "idle" ? undefined : FORMS[form];
  return (
    <>
      {Form && <Form key={item.frame} item={item} busy={busy} onAnswer={give} />}
      {item.takesReason && (
        <DenyWithReason
          item={item}
          busy={busy}
          onSend={(reason) => answer(item, { action: "deny", reason })}
        />
      )}
      <RuleButtons item={item} busy={busy} />
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
