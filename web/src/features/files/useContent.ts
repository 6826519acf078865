/** What a file holds, read when it is opened and when a person asks again. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, formatError } from "../../api/errors.ts";
import { readContent } from "./requests.ts";
import type { Content, Opened } from "./types.ts";

export interface Loaded {
  content: Content | undefined;
  problem: string;
  /** Of the refusal. */
  status: number;
  /** An environment file that is shown because a person said so. */
  revealed: boolean;
  /** Counts the answers. */
  turn: number;
  read: (reveal: boolean) => void;
}

export function useContent({ sessionId, path }: Opened): Loaded {
  const [wanted, setWanted] = useState({ reveal: false, turn: 0 });
  const [answer, setAnswer] = useState<{ content?: Content; problem: string; status: number; turn: number }>({
    problem: "",
    status: 0,
    turn: 0,
  });
  useEffect(() => {
    const end = new AbortController();
    const turn = wanted.turn + 1;
    readContent(sessionId, path, wanted.reveal, end.signal).then(
      (content) => setAnswer({ content, problem: "", status: 0, turn }),
      (error: unknown) => {
        if (end.signal.aborted) return;
        const status = error instanceof ApiError ? error.status : 0;
        setAnswer({ problem: formatError(error), status, turn });
      },
    );
    return () => end.abort();
  }, [sessionId, path, wanted]);
  return {
    content: answer.content,
    problem: answer.problem,
    status: answer.status,
    turn: answer.turn,
    revealed: wanted.reveal,
    read: (reveal) => setWanted({ reveal, turn: wanted.turn + 1 }),
  };
}
