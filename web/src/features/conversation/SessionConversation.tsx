/** The conversation of a session, with what waits for an answer and what was just sent. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Session } from "../../api/types.ts";
import { useResource } from "../../store/resource.ts";
import { cliOf, sessionList } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { besidePage } from "../../ui/pages/panel.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { useNow } from "../../ui/useNow.ts";
import { ApprovalCard } from "../approvals/Inbox.tsx";
import { pressOwnKey } from "../approvals/cardkeys.ts";
import { APPROVALS_PAGE } from "../approvals/openinbox.ts";
import { approvalOf } from "../approvals/state.ts";
import { CheckChips } from "../checks/CheckChips.tsx";
import { nameUploads } from "../attach/names.ts";
import { describeDelivery } from "../prompt/delivery.ts";
import { getPromptState } from "../prompt/state.ts";
import { answers } from "../rules/state.ts";
import { ConversationView } from "./ConversationView.tsx";
import { type Item, lastTodos } from "./items.ts";
import { type Conversation, readSessionConversation } from "./source.ts";
import { Todos } from "./ToolBody.tsx";

/** Characters of an answer that are read aloud at once. */
const SPOKEN = 400;

/** The dialog of the agent, answered here as in the inbox; where that is open, it is answered there. */
function Asked({ id }: { id: string }) {
  const now = useNow();
  const item = approvalOf(id);
  const inInbox = [openPage.value, besidePage.value].includes(APPROVALS_PAGE);
  if (!item || item.kind === "idle" || inInbox) return null;
  return (
    <div onKeyDown={pressOwnKey}>
      <ApprovalCard key={item.id} item={item} now={now} />
    </div>
  );
}

/** A prompt that the agent's record does not have yet. */
function Sending({ id, folder }: { id: string; folder: string }) {
  const { ticket, delivery } = getPromptState(id);
  if (!ticket || !delivery || delivery.state === "delivered" || delivery.state === "duplicate") return null;
  return (
    <div class="talk-prompt" data-state={delivery.state} data-testid="conversation-sending" dir="auto">
      {nameUploads(ticket.text, folder)}
      <small>{describeDelivery(delivery)}</small>
    </div>
  );
}

function Working({ session }: { session: Session }) {
  const waits = approvalOf(session.id);
  if (session.status !== "busy" || (waits && waits.kind !== "idle")) return null;
  return (
    <p class="talk-working" data-testid="conversation-working">
      <span class="spinner" aria-hidden="true" /> Working…
    </p>
  );
}

function PinnedTodos({ session, items }: { session: Session; items: readonly Item[] }) {
  const todos = session.todos ?? lastTodos(items);
  if (!todos || todos.length === 0) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  return (
    <details class="talk-pinned" data-testid="conversation-todos">
      <summary>
        <Icon name="check" size={15} /> To-dos: {done} of {todos.length} done
      </summary>
      <Todos todos={todos} />
    </details>
  );
}

/** What a screen reader says: the answer, once the agent rests; not each word as it comes. */
function Spoken({ session, items }: { session: Session; items: readonly Item[] }) {
  const [words, setWords] = useState("");
  const before = useRef(session.status);
  useEffect(() => {
    if (before.current === "busy" && session.status !== "busy") {
      const answer = items.findLast(({ role, kind }) => role === "assistant" && kind === "text");
      setWords(answer?.text ? `Answer: ${answer.text.slice(0, SPOKEN)}` : "");
    }
    before.current = session.status;
  }, [session.status]);
  return (
    <p class="sr-only" role="status">
      {words}
    </p>
  );
}

export function SessionConversation({ id }: { id: string }) {
  const reader = useMemo(() => readSessionConversation(id), [id]);
  const target = useMemo(() => new URL(location.href).searchParams.get("item") ?? undefined, [id]);
  const session = sessionList.value.byId.get(id);
  useResource(answers);
  if (!session) return null;
  const agent = cliOf(session.mode)?.label ?? session.mode;
  const head = (conversation: Conversation) => (
    <>
      <Spoken session={session} items={conversation.items.value} />
      <PinnedTodos session={session} items={conversation.items.value} />
    </>
  );
  const foot = () => (
    <div class="talk-end">
      <Sending id={id} folder={session.workingDir} />
      <Asked id={id} />
      <CheckChips session={session} />
      <Working session={session} />
    </div>
  );
  return (
    <ConversationView
      reader={reader}
      title={session.name}
      agent={agent}
      sessionId={id}
      folder={session.workingDir}
      target={target}
      empty={`Nothing yet. What you send to ${agent} and what it does appears here.`}
      head={head}
      foot={foot}
    />
  );
}
