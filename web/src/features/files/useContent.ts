/** What a file holds, read when it is opened and when a person asks again. */
import { useRef, useState, useEffect } from "preact/hooks";
import { ApiError, formatError } from "../../api/errors.ts";
import { readContent, saveContent } from "./requests.ts";
import type { Editor } from "./codemirror.ts";
import type { Opened, Text, Content } from "./state.ts";

export interface Saving {
  changed: boolean;
  busy: boolean;
  problem: string;
  /** The file as it is now, where it changed below. */
  conflict: Text | undefined;
  touched: () => void;
  save: () => Promise<void>;
  /** Give one's own text up. */
  takeTheirs: () => void;
}

/** What is there by now; a file that is gone or no text any more has nothing to be compared with. */
async function readAgain(file: Opened, revealed: boolean): Promise<Text | undefined> {
  const now = await readContent(file.sessionId, file.path, revealed);
  return "content" in now ? now : undefined;
}

export function useSaving(
  file: Opened,
  text: Text,
  revealed: boolean,
  editor: { readonly current: Editor | undefined },
): Saving {
  const base = useRef(text.hash);
  const [changed, setChanged] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const [conflict, setConflict] = useState<Text>();
  const settle = () => {
    editor.current?.compare(undefined);
    setConflict(undefined);
    setChanged(false);
    setProblem("");
  };
  const clash = async () => {
    const now = await readAgain(file, revealed);
    if (!now) return setProblem("The file is no longer text. Reload it to see it.");
    // What cannot be shown whole would be cut by the next save.
    if (now.truncated || !now.editable)
      return setProblem("The file changed and is no longer editable. Reload it to see why.");
    // The next save is over what is shown now, and over nothing that comes after it.
    base.current = now.hash;
    setConflict(now);
    editor.current?.compare(now.content);
  };
  const attempt = async (content: string) => {
    try {
      const saved = await saveContent(file.sessionId, file.path, content, base.current);
      base.current = saved.hash;
      settle();
      // What was typed meanwhile is not saved.
      if (editor.current?.text() !== content) setChanged(true);
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) await clash();
      else throw error;
    }
  };
  const save = async () => {
    const content = editor.current?.text();
    if (busy || content === undefined) return;
    setBusy(true);
    setProblem("");
    await attempt(content).catch((error: unknown) => setProblem(formatError(error)));
    setBusy(false);
  };
  const takeTheirs = () => {
    if (conflict) editor.current?.replace(conflict.content);
    settle();
  };
  return { changed, busy, problem, conflict, touched: () => setChanged(true), save, takeTheirs };
}

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
