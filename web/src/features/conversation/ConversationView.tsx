/** A conversation with its tools: live beside a terminal, or stored. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ConversationList } from "./ConversationList.tsx";
import { SurroundingsProvider } from "./context.ts";
import { type Filter, findItems } from "./items.ts";
import { findWanted, wanted } from "./jump.ts";
import { Conversation, type Reader } from "./source.ts";
import { Toolbar } from "./Toolbar.tsx";
import "./conversation.css";

interface Props {
  reader: Reader;
  title: string;
  agent: string;
  sessionId?: string;
  folder?: string | undefined;
  /** An item to show first. */
  target?: string | undefined;
  /** Said where there is nothing yet. */
  empty: string;
  /** Above the list, and behind its last item. */
  head?: (conversation: Conversation) => ComponentChildren;
  foot?: (conversation: Conversation) => ComponentChildren;
}

function useSearch(conversation: Conversation) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(-1);
  const items = conversation.items.value;
  const found = useMemo(() => findItems(items, words), [items, words]);
  const search = (next: string) => {
    setWords(next);
    setAt(findItems(items, next).length - 1);
  };
  const step = (by: 1 | -1) => found.length > 0 && setAt((now) => (now + by + found.length) % found.length);
  return { search: { words, found, at }, write: search, step, target: found[at] };
}

/** The item that the terminal's menu asked for last, and how often it did. */
function useWanted(conversation: Conversation, sessionId: string | undefined, begin: () => void) {
  const [sought, setSought] = useState<{ id: string | undefined; jumps: number }>({
    id: undefined,
    jumps: 0,
  });
  const asked = wanted.value;
  const loaded = conversation.loaded.value;
  useEffect(() => {
    if (!asked || asked.sessionId !== sessionId || !loaded) return;
    wanted.value = undefined;
    begin();
    void findWanted(conversation, asked).then((id) => setSought(({ jumps }) => ({ id, jumps: jumps + 1 })));
  }, [asked, loaded]);
  return sought;
}

export function ConversationView(props: Props) {
  const { reader, title, agent, sessionId, folder, empty } = props;
  const conversation = useMemo(() => new Conversation(reader), [reader]);
  useEffect(() => conversation.start(), [conversation]);
  const [filter, setFilter] = useState<Filter>("all");
  const { search, write, step, target } = useSearch(conversation);
  const around = useMemo(
    () => ({ conversation, sessionId, agent, folder }),
    [conversation, sessionId, agent, folder],
  );
  const sought = useWanted(conversation, sessionId, () => {
    setFilter("all");
    write("");
  });
  const problem = conversation.problem.value;
  const none = conversation.loaded.value && problem === "" && conversation.items.value.length === 0;
  return (
    <SurroundingsProvider value={around}>
      <section class="talk-pane" aria-label="Conversation" data-testid="conversation-pane">
        <Toolbar
          title={title}
          filter={filter}
          onFilter={setFilter}
          search={search}
          onSearch={write}
          onStep={step}
        />
        {problem !== "" && (
          <p class="field-problem" role="alert">
            {problem}
          </p>
        )}
        {props.head?.(conversation)}
        {!conversation.loaded.value && <p class="talk-waiting">Loading…</p>}
        {none && <p class="talk-waiting">{empty}</p>}
        <ConversationList
          filter={filter}
          found={sought.id === undefined || target !== undefined ? search.found : [sought.id]}
          target={target ?? sought.id ?? props.target}
          jumps={sought.jumps}
        >
          {props.foot?.(conversation)}
        </ConversationList>
      </section>
    </SurroundingsProvider>
  );
}
