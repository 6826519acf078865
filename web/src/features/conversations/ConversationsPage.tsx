/** What was said to agents before, of every CLI: found, read, and gone on with. */
import { useState } from "preact/hooks";
import type { ConversationResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { shortenPath } from "../../lib/format.ts";
import { cliOf } from "../../store/state.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import "../../ui/styles/records.css";
import "./conversations.css";
import { Resume } from "./Resume.tsx";
import { TranscriptView } from "./TranscriptView.tsx";
import { useConversations } from "./useConversations.ts";
import { splitByMatch, summarizeSearch, titleOf, turnsText } from "./texts.ts";

interface RowProps {
  one: ConversationResponse;
  words: string;
  now: number;
  onRead: () => void;
}

function Excerpt({ text, words }: { text: string; words: string }) {
  return (
    <span class="conversation-excerpt">
      {splitByMatch(text, words).map((piece, at) =>
        piece.hit ? <mark key={at}>{piece.text}</mark> : <span key={at}>{piece.text}</span>,
      )}
    </span>
  );
}

function Row({ one, words, now, onRead }: RowProps) {
  const cli = cliOf(one.mode);
  return (
    <li class="record" data-testid="conversation" data-mode={one.mode}>
      <span class="record-mark" aria-hidden="true">
        <small>{cli?.shortBadge ?? one.mode.slice(0, 2)}</small>
      </span>
      <div class="record-main">
        <button type="button" class="conversation-title" onClick={onRead} data-testid="conversation-read">
          {titleOf(one)}
        </button>
        <small>
          {cli?.label ?? one.mode} · {turnsText(one)} · {formatAgo(one.updatedAt, now)}
          {one.workingDir !== undefined && (
            <>
              {" · "}
              <bdi title={one.workingDir}>{shortenPath(one.workingDir)}</bdi>
            </>
          )}
        </small>
        {one.excerpt !== undefined && <Excerpt text={one.excerpt} words={words} />}
      </div>
      <Resume one={one} />
    </li>
  );
}

export function ConversationsPage() {
  const list = useConversations();
  const [chosen, setChosen] = useState<ConversationResponse>();
  const now = useNow();
  if (chosen) return <TranscriptView one={chosen} onBack={() => setChosen(undefined)} />;
  const words = list.words.trim();
  return (
    <div class="records-page" aria-busy={list.busy} data-testid="conversations">
      <div class="records-bar">
        <input
          class="field conversation-search"
          type="search"
          placeholder="Search conversations"
          aria-label="Search conversations"
          value={list.words}
          maxLength={200}
          onInput={(event) => list.search(event.currentTarget.value)}
          data-testid="conversations-search"
        />
        <span class="dim" role="status" data-testid="conversations-sum">
          {list.busy ? "Searching…" : list.sum && summarizeSearch(list.sum, words)}
        </span>
      </div>
      <Problem text={list.problem} testid="conversations-problem" />
      {!list.busy && words === "" && list.found.length === 0 && list.problem === "" && (
        <p class="records-none dim">
          No conversations yet. Start an agent session and its conversation appears here.
        </p>
      )}
      <ul class="records">
        {list.found.map((one) => (
          <Row
            key={`${one.mode} ${one.id}`}
            one={one}
            words={words}
            now={now}
            onRead={() => setChosen(one)}
          />
        ))}
      </ul>
      {list.sum && list.found.length < list.sum.total && (
        <button
          type="button"
          class="button"
          disabled={list.busy}
          onClick={list.more}
          data-testid="conversations-more"
        >
          Show more
        </button>
      )}
    </div>
  );
}
