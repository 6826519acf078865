import { useEffect, useState } from "preact/hooks";
import { readHistory } from "../../api/calls.ts";
import { getErrorText } from "../../api/errors.ts";
import type { TerminalResponse } from "../../api/types.ts";
import { withoutBlankEnd } from "./capture.ts";
import { settings } from "../../store/state.ts";

export interface CaptureState {
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
