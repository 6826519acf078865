/** The ways to answer a dialog. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../ui/Icon.tsx";
import "./choices.css";
import {
  type Answer,
  readCheckboxes,
  type ApprovalItemResponse,
  isFreeText,
  listOptions,
  isRisky,
  type ItemOption,
  getLeaning,
  getButtonLeaning,
  TEXT_MAX,
} from "./item.ts";

interface Props {
  item: ApprovalItemResponse;
  busy: boolean;
  onAnswer: (answer: Answer) => void;
}

function Deny({ busy, onAnswer, label }: Omit<Props, "item"> & { label: string }) {
  return (
    <button
      type="button"
      class="choice-button quiet"
      disabled={busy}
      onClick={() => onAnswer({ action: "deny" })}
      data-testid="approval-deny"
    >
      <span>{label}</span>
    </button>
  );
}

export function ApproveOrDeny({ item, busy, onAnswer }: Props) {
  return (
    <div class="choice-buttons">
      <button
        type="button"
        class="choice-button"
        data-leaning={getButtonLeaning(item, "yes")}
        data-grave={isRisky(item)}
        disabled={busy}
        onClick={() => onAnswer({ action: "approve" })}
        data-testid="approval-approve"
      >
        <span>Approve</span>
      </button>
      <Deny busy={busy} onAnswer={onAnswer} label="Deny" />
    </div>
  );
}

/** An option's words: its label, and below it what the dialog says of it. */
function OptionText({ option }: { option: ItemOption }) {
  return (
    <span>
      {option.label}
      {option.description && <small>{option.description}</small>}
    </span>
  );
}

function OptionButton({ item, option, busy, onAnswer }: Props & { option: ItemOption }) {
  return (
    <button
      type="button"
      class="choice-button"
      data-leaning={getButtonLeaning(item, getLeaning(item, option))}
      data-grave={isRisky(item)}
      disabled={busy}
      onClick={() => onAnswer({ action: "option", option: option.n })}
      data-key={option.n}
      data-testid={`approval-option-${option.n}`}
    >
      <kbd>{option.n}</kbd>
      <OptionText option={option} />
    </button>
  );
}

export function SingleChoice({ item, busy, onAnswer }: Props) {
  const offered = listOptions(item);
  const declines = offered.some((option) => getLeaning(item, option) === "no");
  return (
    <div class="choice-buttons">
      {offered.map((option) => (
        <OptionButton key={option.n} item={item} option={option} busy={busy} onAnswer={onAnswer} />
      ))}
      {!declines && (
        <Deny busy={busy} onAnswer={onAnswer} label={item.kind === "question" ? "Skip" : "Deny"} />
      )}
    </div>
  );
}

const toggled = (set: ReadonlySet<number>, n: number): ReadonlySet<number> => {
  const next = new Set(set);
  if (!next.delete(n)) next.add(n);
  return next;
};

export function MultipleChoice({ item, busy, onAnswer }: Props) {
  const boxes = readCheckboxes(item);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(
    () => new Set([...boxes].filter(([, ticked]) => ticked).map(([n]) => n)),
  );
  const offered = (item.options ?? []).filter((option) => boxes.has(option.n) && !isFreeText(option));
  const send = () => onAnswer({ action: "options", options: [...chosen].toSorted((a, b) => a - b) });
  return (
    <fieldset class="choice-checks" disabled={busy}>
      <legend class="sr-only">Pick any number of options</legend>
      {offered.map((option) => (
        <label class="choice-check" key={option.n}>
          <input
            type="checkbox"
            checked={chosen.has(option.n)}
            onChange={() => setChosen((before) => toggled(before, option.n))}
            data-key={option.n}
            data-testid={`approval-check-${option.n}`}
          />
          <kbd>{option.n}</kbd>
          <OptionText option={option} />
        </label>
      ))}
      <div class="choice-buttons pair">
        <button
          type="button"
          class="choice-button"
          data-leaning="yes"
          disabled={chosen.size === 0}
          onClick={send}
          data-testid="approval-send-options"
        >
          <span>
            {chosen.size === 0 ? (
              <>
                {" "}
                Submit <small>Pick at least one</small>{" "}
              </>
            ) : (
              `Submit ${chosen.size}`
            )}
          </span>
        </button>
        <Deny busy={busy} onAnswer={onAnswer} label="Skip" />
      </div>
    </fieldset>
  );
}

interface SendProps {
  item: ApprovalItemResponse;
  busy: boolean;
  /** @returns whether the text was taken; one that was not stays in its field. */
  onSend: (text: string) => Promise<boolean>;
}

export function TextAnswer({ item, busy, onSend }: SendProps) {
  const idle = item.kind === "idle";
  return (
    <TextForm
      busy={busy}
      onSend={onSend}
      placeholder={idle ? "What should it do next?" : "Or answer in your own words"}
      label={idle ? `Next prompt for ${item.sessionName}` : `Your answer to ${item.sessionName}`}
      testid="approval-text"
    />
  );
}

/** Declines with words that the agent reads; a plain No ends its turn. The key W opens the field. */
export function DenyWithReason({ item, busy, onSend }: SendProps) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (wasOpen.current && !open) opener.current?.focus();
    wasOpen.current = open;
  }, [open]);
  if (!open)
    return (
      <button
        type="button"
        ref={opener}
        class="choice-button quiet choice-why"
        disabled={busy}
        onClick={() => setOpen(true)}
        data-key="w"
        data-testid="approval-why"
      >
        <span>No, and say why…</span>
        <kbd aria-hidden="true">W</kbd>
      </button>
    );
  return (
    <TextForm
      busy={busy}
      onSend={onSend}
      onCancel={() => setOpen(false)}
      placeholder="Why not, or what to do instead"
      label={`Reason for ${item.sessionName}, which continues with it`}
      testid="approval-reason"
    />
  );
}

interface TextProps extends Omit<SendProps, "item"> {
  placeholder: string;
  label: string;
  testid: string;
  /** The field was opened by a press: it has the focus, and Escape closes it. */
  onCancel?: () => void;
}

function TextForm({ busy, onSend, placeholder, label, testid, onCancel }: TextProps) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const isOpened = onCancel !== undefined;
  useLayoutEffect(() => {
    if (isOpened) field.current?.focus();
  }, []);
  const usable = text.trim() !== "" && !busy;
  const send = async () => {
    if (usable && (await onSend(text))) setText("");
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape" && onCancel) {
      // Only the field closes, not the inbox around it.
      event.preventDefault();
      event.stopPropagation();
      onCancel();
    }
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      class="approval-text"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        class="field"
        rows={2}
        maxLength={TEXT_MAX}
        value={text}
        placeholder={placeholder}
        aria-label={label}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
        ref={field}
        data-testid={testid}
      />
      <button
        type="submit"
        class="button primary"
        disabled={!usable}
        data-testid={`${testid}-send`}
        title="Send  Ctrl+Enter"
      >
        <Icon name="send" />
        <span class="sr-only">Send</span>
      </button>
    </form>
  );
}
