/** The list as it was asked for, a page more at a time. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { ConversationResponse, ConversationListResponse } from "../../api/types.ts";

const PAGE = 50;
/** Milliseconds without a key before a search is begun. */
const PAUSE_MS = 300;

export interface Conversations {
  words: string;
  search: (words: string) => void;
  sum: ConversationListResponse | undefined;
  found: readonly ConversationResponse[];
  busy: boolean;
  problem: string;
  more: () => void;
}

export function useConversations(): Conversations {
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
