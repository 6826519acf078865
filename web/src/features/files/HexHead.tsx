import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { HEAD_BYTES, hexOf } from "./hex.ts";
import { readHead } from "./raw.ts";
import type { Opened } from "./types.ts";

export function HexHead({ file }: { file: Opened }) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    readHead(file, HEAD_BYTES, end.signal).then(
      (bytes) => setText(hexOf(bytes)),
      (error: unknown) => !end.signal.aborted && setProblem(formatError(error)),
    );
    return () => end.abort();
  }, [file.sessionId, file.path]);
  if (problem !== "") return <p class="field-problem">{problem}</p>;
  return (
    <pre class="hex" tabIndex={0} aria-label="First bytes" data-testid="hex">
      {text ?? "Loading…"}
    </pre>
  );
}
