/** Where a whole prompt is written before the agent sees any of it. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { filesIn, itemsOf } from "../attach/tray.ts";
import { chooseFiles, attachFiles } from "../attach/attach.ts";
import { TrayHost } from "../attach/TrayHost.tsx";
import type { Session } from "../../api/types.ts";
import { AskNotice, findUntoldItem } from "../agents/AskNotice.tsx";
import { openInbox } from "../approvals/openinbox.ts";
import { needsYou } from "../approvals/state.ts";
import { SuggestButton, SuggestionsHost } from "../suggestions/SuggestionsHost.tsx";
import { livePid } from "../sessions/status.ts";
import { prefs } from "../../store/prefs.ts";
import { activeSession, cliOf } from "../../store/state.ts";
import { focusActiveTerminal } from "../terminal/current.ts";
import { Icon } from "../../ui/Icon.tsx";
import { VoiceHost } from "../voice/VoiceHost.tsx";
import { describeDelivery, isUnderWay } from "./delivery.ts";
import { followWriting } from "./focus.ts";
import { isAgent } from "./isagent.ts";
import { getPromptAction } from "./keys.ts";
import { insertMention, type Mention, mention, mentionAt, mentionKey } from "./mention.ts";
import { MentionHost } from "./MentionHost.tsx";
import {
  getPromptState,
  keepUnsent,
  type PromptState,
  sendAfterAnswer,
  sendPrompt,
  walk,
  writeDraft,
} from "./state.ts";

const ROWS_MAX = 10;

const rowsOf = (text: string): number => Math.min(ROWS_MAX, text.split("\n").length);

function Ways({ id, state }: { id: string; state: "blocked" | "after" | "held" }) {
  return (
    <>
      <button type="button" class="button small" onClick={openInbox} data-testid="prompt-answer">
        Answer
      </button>
      {state === "blocked" && (
        <button
          type="button"
          class="button small"
          onClick={() => sendAfterAnswer(id)}
          data-testid="prompt-after"
        >
          Send after it
        </button>
      )}
      {state === "after" && (
        <button type="button" class="button small" onClick={() => keepUnsent(id)}>
          Cancel
        </button>
      )}
    </>
  );
}

function Outcome({ id, box }: { id: string; box: PromptState }) {
  const { delivery } = box;
  // The service holds what is sent to a starting agent.
  const asked = delivery?.state === "held" && needsYou(id);
  const state = delivery?.state;
  return (
    <div class="prompt-outcome" data-state={state} role="status" data-testid="prompt-outcome">
      {delivery && isUnderWay(delivery) && <span class="spinner" />}
      {(state === "failed" || state === "blocked") && <Icon name="alert" size={15} />}
      {delivery && describeDelivery(asked ? { state: "after" } : delivery)}
      {(state === "blocked" || state === "after" || (state === "held" && asked)) && (
        <Ways id={id} state={state} />
      )}
    </div>
  );
}

/** A key that a list of choices may have. */
const isBare = (event: KeyboardEvent): boolean =>
  !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

function useField(session: Session, text: string) {
  const field = useRef<HTMLTextAreaElement>(null);
  /** Where the caret goes with the next text. */
  const caret = useRef<number | "end" | undefined>(undefined);
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    const place = caret.current === "end" ? text.length : caret.current;
    field.current?.setSelectionRange(place, place);
    caret.current = undefined;
  }, [text]);
  const look = () => {
    const { value, selectionStart } = field.current ?? { value: "", selectionStart: 0 };
    mention.value = mentionAt(session.id, value, selectionStart);
  };
  const choose = (open: Mention, path: string) => {
    const next = insertMention(text, open, path);
    caret.current = next.caret;
    mention.value = undefined;
    writeDraft(session.id, next.text);
    field.current?.focus();
  };
  const key = (event: KeyboardEvent) => {
    if (isBare(event) && mentionKey.peek()?.(event.key)) return event.preventDefault();
    const { value, selectionStart: start, selectionEnd: end } = event.currentTarget as HTMLTextAreaElement;
    const deed = getPromptAction(event, { text: value, start, end }, prefs.value.enterSends);
    if (deed === undefined) return;
    if (deed === "send") void sendPrompt(session.id);
    if (deed === "leave") focusActiveTerminal();
    if (deed === "older" || deed === "newer") {
      if (!walk(session.id, deed === "older" ? 1 : -1)) return;
      caret.current = "end";
    }
    event.preventDefault();
  };
  return { field, key, look, choose };
}

/** Keep the focus in the field, and so a phone's keyboard, when one of the form's buttons is pressed. */
function keepFocus(event: MouseEvent): void {
  const field = document.activeElement;
  const typing = field?.matches("input, textarea") && (event.currentTarget as Element).contains(field);
  if (typing && (event.target as Element).closest("button, [role=option]")) event.preventDefault();
}

/** A tap beside the field means the field: what the agent asks lies over it. */
function focusField(event: MouseEvent): void {
  const row = event.currentTarget as Element;
  if (event.target === row) row.querySelector("textarea")?.focus();
}

/** Text stays the field's own. */
function attach(id: string, event: Event, data: DataTransfer | null): void {
  const files = filesIn(data);
  if (files.length === 0) return;
  event.preventDefault();
  attachFiles(id, files);
}

function Form({ session }: { session: Session }) {
  const box = getPromptState(session.id);
  const { field, key, look, choose } = useField(session, box.draft);
  const busy = isUnderWay(box.delivery);
  const keys = prefs.value.enterSends ? "Enter" : "Ctrl+Enter";
  const agentName = cliOf(session.mode)?.label ?? session.mode;
  const asks = box.draft === "" && itemsOf(session.id).length === 0 ? findUntoldItem(session) : undefined;
  // A focused field that is taken away tells of no lost focus.
  useEffect(() => followWriting, []);
  const submit = (event: Event) => {
    event.preventDefault();
    void sendPrompt(session.id);
  };
  return (
    <form
      class="prompt"
      aria-label="Prompt"
      onSubmit={submit}
      onMouseDown={keepFocus}
      onFocusIn={followWriting}
      onFocusOut={followWriting}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => attach(session.id, event, event.dataTransfer)}
      data-testid="prompt"
      aria-busy={busy}
    >
      <Outcome id={session.id} box={box} />
      <SuggestionsHost session={session} />
      <TrayHost id={session.id} />
      <MentionHost id={session.id} onChoose={choose} />
      <div class="prompt-row" data-part="prompt" onClick={focusField}>
        {asks && <AskNotice item={asks} />}
        <button
          type="button"
          class="prompt-attach"
          aria-label="Attach a file"
          title="Attach a file (or paste or drop it)"
          onClick={() => chooseFiles(session.id, () => field.current?.focus())}
          data-testid="prompt-attach"
        >
          <Icon name="plus" />
        </button>
        <SuggestButton session={session} />
        <VoiceHost id={session.id} />
        <textarea
          ref={field}
          id="prompt-field"
          rows={rowsOf(box.draft)}
          value={box.draft}
          readOnly={busy}
          placeholder={`Message ${agentName}…`}
          aria-label={`Message ${agentName}`}
          aria-keyshortcuts={keys}
          enterkeyhint={prefs.value.enterSends ? "send" : "enter"}
          onInput={(event) => {
            writeDraft(session.id, event.currentTarget.value);
            look();
          }}
          onClick={look}
          onBlur={() => (mention.value = undefined)}
          onKeyDown={key}
          onPaste={(event) => attach(session.id, event, event.clipboardData)}
          data-testid="prompt-field"
        />
        <button
          type="submit"
          class="prompt-send"
          disabled={busy || (box.draft.trim() === "" && itemsOf(session.id).length === 0)}
          aria-label="Send prompt"
          title={`Send  ${keys}`}
          data-testid="prompt-send"
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}

/** The place has one line's height: a longer prompt grows over the terminal, not against it. */
export function PromptBox() {
  const session = activeSession.value;
  if (!session || livePid(session) === null) return null;
  if (!prefs.value.promptBox || !isAgent(session))
    return (
      <div class="tray-place">
        <TrayHost id={session.id} />
      </div>
    );
  return (
    <div class="prompt-place">
      <Form key={session.id} session={session} />
    </div>
  );
}
