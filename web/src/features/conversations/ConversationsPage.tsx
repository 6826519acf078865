/** What was said to agents before, of every CLI: found, read, and gone on with. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { ConversationResponse, ConversationListResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { shortenPath } from "../../lib/format.ts";
import { cliOf } from "../../store/state.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import { Resume, TranscriptView } from "./TranscriptView.tsx";
import { splitByMatch, summarizeSearch, titleOf, turnsText } from "./texts.ts";
import "../../ui/styles/records.css";
import "./conversations.css";

const PAGE = 50;
/** Milliseconds without a key before a search is begun. */
const PAUSE_MS = 300;

interface Conversations {
  words: string;
  search: (words: string) => void;
  sum: ConversationListResponse | undefined;
  found: readonly ConversationResponse[];
  busy: boolean;
  problem: string;
  more: () => void;
}

function useConversations(): Conversations {
  const [words, setWords] = useState("");
  const [offset, setOffset] = useState(0);
  const [sum, setSum] = useState<ConversationListResponse>();
  const [found, setFound] = useState<readonly ConversationResponse[]>([]);
  const [busy, setBusy] = useState(true);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    const ask = async () => {
      try {
        const answer = await api.get("/api/history/sessions", {
          query: { limit: PAGE, offset, q: words.trim() || undefined },
          signal: end.signal,
        });
        setSum(answer);
        setFound((before) => (offset === 0 ? answer.sessions : [...before, ...answer.sessions]));
        setProblem("");
      } catch (error) {
        if (end.signal.aborted) return;
        setProblem(formatError(error));
      }
      setBusy(false);
    };
    setBusy(true);
    const timer = setTimeout(() => void ask(), words === "" || offset > 0 ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [words, offset]);
  const search = (next: string) => {
    setOffset(0);
    setWords(next);
  };
  return { words, search, sum, found, busy, problem, more: () => setOffset(found.length) };
}

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
        <Button disabled={list.busy} onClick={list.more} testid="conversations-more">
          Show more
        </Button>
      )}
    </div>
  );
}
