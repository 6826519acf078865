/** One folder's folders, read when it is entered. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { api } from "../../api/client.ts";
import type { BrowseResponse } from "../../api/types.ts";

export interface Browsing {
  found: BrowseResponse | undefined;
  /** What was found is of the folder before the one that was entered, which is being read. */
  reading: boolean;
  /** The folder that was entered; where it cannot be read, the one that is still shown. */
  here: string | undefined;
  problem: string;
  hidden: boolean;
  enter: (path: string | undefined) => void;
  showHidden: (hidden: boolean) => void;
}

/** @param from where to begin; where that is no folder (any more), at home. */
export function useBrowse(from: string): Browsing {
  const [path, enter] = useState<string | undefined>(from || undefined);
  const [answered, setAnswered] = useState<string>();
  const [hidden, showHidden] = useState(false);
  const [found, setFound] = useState<BrowseResponse>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    api.get("/api/cases/browse", { query: { path, showHidden: hidden }, signal: end.signal }).then(
      (answer) => {
        setFound(answer);
        setAnswered(path);
        setProblem("");
      },
      (error: unknown) => {
        if (end.signal.aborted) return;
        if (found === undefined && path !== undefined) enter(undefined);
        else setProblem(formatError(error));
        setAnswered(path);
      },
    );
    return () => end.abort();
  }, [path, hidden]);
  const reading = answered !== path;
  return { found, reading, here: reading ? path : found?.path, problem, hidden, enter, showHidden };
}
