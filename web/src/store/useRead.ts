/** What a component reads once, and again when what it is of changes. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../api/errors.ts";

export interface Read<T> {
  /** Of the last answer; undefined until there is one. */
  data: T | undefined;
  /** Why there is no answer; empty without a failure. */
  problem: string;
}

/**
 * @param read one request, given up when the component goes or an input changes.
 * @param inputs it is read again whenever one of them is another one; what was read stays meanwhile.
 */
export function useRead<T>(
  read: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  describe: (error: unknown) => string = formatError,
): Read<T> {
  const [found, setFound] = useState<Read<T>>({ data: undefined, problem: "" });
  useEffect(() => {
    const end = new AbortController();
    read(end.signal).then(
      (data) => end.signal.aborted || setFound({ data, problem: "" }),
      (error: unknown) => end.signal.aborted || setFound({ data: undefined, problem: describe(error) }),
    );
    return () => end.abort();
  }, inputs);
  return found;
}
