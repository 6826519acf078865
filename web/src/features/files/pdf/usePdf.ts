/** A document that is open as long as it is looked at. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../../api/errors.ts";
import { readWhole } from "../raw.ts";
import type { Opened } from "../types.ts";
import { openPdf, type Pdf } from "./document.ts";
import { BYTES_MAX, describePdfError } from "./layout.ts";

export function usePdf(file: Opened) {
  const [pdf, setPdf] = useState<Pdf>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    const fail = (error: unknown): void => {
      if (!end.signal.aborted) setProblem(describePdfError(error) ?? formatError(error));
      end.abort();
    };
    readWhole(file, BYTES_MAX, end.signal)
      .then((data) => openPdf(data, end.signal))
      .then((opened) => !end.signal.aborted && setPdf(opened))
      .catch(fail);
    return () => end.abort();
  }, [file.sessionId, file.path]);
  return { pdf, problem };
}
