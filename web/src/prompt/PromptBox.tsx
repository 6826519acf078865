/** Where a whole prompt is written before the agent sees any of it. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../api/types.ts";
import { livePid } from "../sessions/status.ts";
import { prefs } from "../settings/prefs.ts";
import { activeSession, cliOf } from "../store/state.ts";
import { focusActiveTerminal } from "../terminal/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { deliveryText, isUnderWay } from "./delivery.ts";
import { deedOf } from "./keys.ts";
import { type Box, boxOf, send, walk, write } from "./state.ts";

const ROWS_MAX = 10;

/** A mode that the page cannot look up is an agent unless it is the plain shell. */
const isAgent = (session: Session): boolean =>
  (cliOf(session.mode)?.kind ?? (session.mode === "shell" ? "shell" : "agent")) === "agent";

const rowsOf = (text: string): number => Math.min(ROWS_MAX, text.split("\n").length);

function Outcome({ box }: { box: Box }) {
  const { delivery } = box;
  return (
    <p class="prompt-outcome" data-state={delivery?.state} role="status" data-testid="prompt-outcome">
      {delivery && isUnderWay(delivery) && <span class="spinner" />}
      {delivery?.state === "failed" && <Icon name="alert" size={15} />}
      {delivery && deliveryText(delivery)}
    </p>
  );
}

function useField(session: Session, text: string) {
  const field = useRef<HTMLTextAreaElement>(null);
  const atEnd = useRef(false);
  useLayoutEffect(() => {
    if (!atEnd.current) return;
    atEnd.current = false;
    field.current?.setSelectionRange(text.length, text.length);
  }, [text]);
  const key = (event: KeyboardEvent) => {
    const { value, selectionStart: start, selectionEnd: end } = event.currentTarget as HTMLTextAreaElement;
    const deed = deedOf(event, { text: value, start, end }, prefs.value.enterSends);
    if (deed === undefined) return;
    if (deed === "send") void send(session.id);
    if (deed === "leave") focusActiveTerminal();
    if (deed === "older" || deed === "newer") {
      atEnd.current = walk(session.id, deed === "older" ? 1 : -1);
      if (!atEnd.current) return;
    }
    event.preventDefault();
  };
  return { field, key };
}

function Form({ session }: { session: Session }) {
  const box = boxOf(session.id);
  const { field, key } = useField(session, box.draft);
  const busy = isUnderWay(box.delivery);
  const keys = prefs.value.enterSends ? "Enter" : "Ctrl+Enter";
  const submit = (event: Event) => {
    event.preventDefault();
    void send(session.id);
  };
  return (
    <form class="prompt" onSubmit={submit} data-testid="prompt" aria-busy={busy}>
      <Outcome box={box} />
      <div class="prompt-row">
        <textarea
          ref={field}
          id="prompt-field"
          rows={rowsOf(box.draft)}
          value={box.draft}
          readOnly={busy}
          placeholder={`Prompt for ${session.name}`}
          aria-label={`Prompt for ${session.name}`}
          aria-keyshortcuts={keys}
          enterkeyhint={prefs.value.enterSends ? "send" : "enter"}
          onInput={(event) => write(session.id, event.currentTarget.value)}
          onKeyDown={key}
          data-testid="prompt-field"
        />
        <button
          type="submit"
          class="prompt-send"
          disabled={busy || box.draft.trim() === ""}
          aria-label="Send the prompt"
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
  if (!session || !prefs.value.promptBox || livePid(session) === null || !isAgent(session)) return null;
  return (
    <div class="prompt-place">
      <Form key={session.id} session={session} />
    </div>
  );
}
