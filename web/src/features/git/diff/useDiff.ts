/** The diff of the chosen file, read anew with each choice. */
import { useEffect, useState } from "preact/hooks";
import { getErrorText } from "../../../api/errors.ts";
import { api } from "../../../api/client.ts";
import { type Line, parseDiff, selectShownLines } from "./diff.ts";
import type { Chosen } from "../types.ts";

export interface Shown {
  lines: Line[];
  text: string;
  truncated: boolean;
  binary: boolean;
}

interface Found {
  /** Which file it is of. */
  key: string;
  shown?: Shown;
  problem?: string;
}

/**
 * @param version another one reads the same file again; its lines stay meanwhile.
 * @returns neither field while the first answer is awaited.
 */
export function useDiff(id: string, { repo, path, kind }: Chosen, version: unknown): Omit<Found, "key"> {
  const key = JSON.stringify([id, repo, path, kind]);
  const [found, setFound] = useState<Found>({ key });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    api.get("/api/sessions/{id}/git-diff", { path: { id }, query: { repo, path, kind }, signal }).then(
      ({ diff, ...rest }) => {
        if (!signal.aborted)
          setFound({ key, shown: { text: diff, lines: selectShownLines(parseDiff(diff)), ...rest } });
      },
      (error: unknown) => {
        if (!signal.aborted) setFound({ key, problem: getErrorText(error) });
      },
    );
    return () => controller.abort();
  }, [key, version]);
  return found.key === key ? found : {};
}
