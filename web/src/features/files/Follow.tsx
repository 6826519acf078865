/** A file as it grows. The end stays in sight until a person scrolls away from it. */
import { Button } from "../../ui/Button.tsx";
import type { TailMessage, Opened } from "./state.ts";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { tail } from "./raw.ts";

/** Characters in sight; what is older goes, at the end of a line. */
export const KEPT_CHARS = 400_000;
const FIRST_LINES = 200;

const CUT = "\n — the file was replaced — \n";

function bounded(text: string): string {
  if (text.length <= KEPT_CHARS) return text;
  const from = text.length - KEPT_CHARS;
  return text.slice(text.indexOf("\n", from) + 1 || from);
}

export interface Followed {
  text: string;
  state: "connecting" | "live" | "ended";
  problem: string;
}

export const START: Followed = { text: "", state: "connecting", problem: "" };

export function applyTailMessage(before: Followed, message: TailMessage): Followed {
  if (message.type === "connected") return { ...before, state: "live" };
  if (message.type === "data") return { ...before, text: bounded(before.text + message.data) };
  if (message.type === "truncated") return { ...before, text: bounded(before.text + CUT) };
  if (message.type === "error") return { ...before, state: "ended", problem: message.message };
  return { ...before, state: "ended" };
}

const WORDS: Record<Followed["state"], string> = {
  connecting: "Connecting…",
  live: "Following",
  ended: "Ended",
};

function useTail(file: Opened) {
  const [state, setState] = useState(START);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    setState(START);
    tail(
      file,
      FIRST_LINES,
      (message) => setState((before) => applyTailMessage(before, message)),
      end.signal,
    ).then(
      () => setState((before) => ({ ...before, state: "ended" })),
      (error: unknown) =>
        !end.signal.aborted &&
        setState((before) => ({ ...before, state: "ended", problem: formatError(error) })),
    );
    return () => end.abort();
  }, [file.sessionId, file.path, turn]);
  return { state, again: () => setTurn(turn + 1) };
}

/** How near to the end (pixels) counts as being there. */
const NEAR = 24;

export function Follow({ file }: { file: Opened }) {
  const { state, again } = useTail(file);
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [state.text]);
  const scrolled = ({
    currentTarget: { scrollTop, clientHeight, scrollHeight },
  }: {
    currentTarget: Element;
  }) => (atEnd.current = scrollTop + clientHeight > scrollHeight - NEAR);
  return (
    <div class="follow">
      <pre
        ref={box}
        class="follow-text"
        tabIndex={0}
        aria-label="End of the file"
        onScroll={scrolled}
        data-testid="follow"
      >
        {state.text}
      </pre>
      <p class="files-foot">
        <span role="status" data-testid="follow-state">
          {WORDS[state.state]}
          {state.problem !== "" && `: ${state.problem}`}
        </span>
        {state.state === "ended" && (
          <Button small onClick={again}>
            Resume following
          </Button>
        )}
      </p>
    </div>
  );
}
