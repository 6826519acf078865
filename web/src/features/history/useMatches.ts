import { useEffect, useState } from "preact/hooks";
import { searchHistory } from "../../api/calls.ts";
import { getErrorText } from "../../api/errors.ts";
import type { TerminalSearchResponse } from "../../api/types.ts";

/** Typing goes on for about this long (ms) between two keys. */
const PAUSE_MS = 250;
/** Bound of the service (protocol-search). */
export const QUERY_MOST = 200;

export interface MatchState {
  result?: TerminalSearchResponse;
  problem?: string;
}

export function useMatches(sessionId: string, query: string): MatchState {
  const [state, setState] = useState<MatchState>({});
  useEffect(() => {
    setState({});
    if (query === "") return;
    const controller = new AbortController();
    const search = () =>
      searchHistory(sessionId, query, true, controller.signal).then(
        (result) => setState({ result }),
        (error: unknown) => controller.signal.aborted || setState({ problem: getErrorText(error) }),
      );
    const timer = setTimeout(() => void search(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [sessionId, query]);
  return state;
}
