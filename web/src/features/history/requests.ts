/** The history and the matches in it, as the service has them. */
import { useEffect, useState } from "preact/hooks";
import { readHistory, searchHistory } from "../../api/calls.ts";
import { getErrorText } from "../../api/errors.ts";
import type { TerminalResponse, TerminalSearchResponse } from "../../api/types.ts";
import { settings } from "../../store/state.ts";
import { withoutBlankEnd } from "./capture.ts";

interface CaptureState {
  capture?: TerminalResponse;
  problem?: string;
}

export function useCapture(sessionId: string): CaptureState {
  const [state, setState] = useState<CaptureState>({});
  useEffect(() => {
    const controller = new AbortController();
    const lines = settings.peek().historyLimit ?? 100_000;
    readHistory(sessionId, lines, controller.signal).then(
      (capture) =>
        setState({ capture: { ...capture, terminalBuffer: withoutBlankEnd(capture.terminalBuffer) } }),
      (error: unknown) => controller.signal.aborted || setState({ problem: getErrorText(error) }),
    );
    return () => controller.abort();
  }, [sessionId]);
  return state;
}

/** Typing goes on for about this long (ms) between two keys. */
const PAUSE_MS = 250;
/** Bound of the service (protocol-search). */
export const QUERY_MOST = 200;

interface MatchState {
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
