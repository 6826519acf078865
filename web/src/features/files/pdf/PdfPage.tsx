/** One page that is drawn. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../../api/errors.ts";
import { drawPage, type Pdf } from "./document.ts";
import type { Size } from "./layout.ts";

interface Props {
  pdf: Pdf;
  number: number;
  scale: number;
  onSize: (number: number, size: Size) => void;
}

export function PdfPage({ pdf, number, scale, onSize }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    const end = new AbortController();
    drawPage(pdf, number, scale, end.signal).then(
      ({ size, canvas, text }) => {
        if (end.signal.aborted) return;
        onSize(number, size);
        // The old picture stays, stretched, until the new one is there.
        place.current?.replaceChildren(canvas, text);
        setDrawn(true);
        setProblem("");
      },
      (error: unknown) => !end.signal.aborted && setProblem(formatError(error)),
    );
    return () => end.abort();
  }, [pdf, number, scale]);
  return (
    <>
      <div
        ref={place}
        class="pdf-sheet"
        style={{ "--total-scale-factor": String(scale) }}
        data-testid="pdf-sheet"
        data-drawn={drawn || undefined}
      />
      {problem !== "" && <p class="field-problem">Couldn't show this page. {problem}</p>}
    </>
  );
}
