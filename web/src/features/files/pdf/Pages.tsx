/** The pages of a document below each other: all have their place, the few near the view are drawn. */
import { useRef, useState } from "preact/hooks";
import type { Pdf } from "./document.ts";
import { drawnOf, PAGES_MAX, percentOf, scaleOf, type Size, stepped } from "./layout.ts";
import { PdfBar } from "./PdfBar.tsx";
import { PdfPage } from "./PdfPage.tsx";
import { useAnchor } from "./useAnchor.ts";
import { useNearViewport } from "./useNearViewport.ts";
import { useAvailableWidth } from "./useAvailableWidth.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

export function Pages({ pdf, name }: { pdf: Pdf; name: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sizes, setSizes] = useState<ReadonlyMap<number, Size>>(new Map());
  const [zoom, setZoom] = useState<number>();
  const room = useAvailableWidth(scroller, true);
  const count = Math.min(pdf.pages, PAGES_MAX);
  const { near, current } = useNearViewport(scroller, count);
  const scale = scaleOf(zoom, pdf.size.width, room);
  useAnchor(scroller, scale);

  const percent = percentOf(scale);
  const go = (page: number): void => {
    const found = scroller.current?.children[page - 1];
    if (found) scroller.current?.scrollTo({ top: (found as HTMLElement).offsetTop });
  };
  const step = (by: 1 | -1): void => setZoom(stepped(percent, by));
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "+" || event.key === "=") step(1);
    else if (event.key === "-") step(-1);
    else if (event.key === "0") setZoom(undefined);
    else return;
    event.preventDefault();
  };
  const learn = (page: number, size: Size): void => setSizes((known) => new Map(known).set(page, size));
  const drawn = new Set(room > 0 ? drawnOf(near, current) : []);
  return (
    <>
      <PdfBar
        current={current}
        pages={pdf.pages}
        percent={percent}
        go={go}
        zoom={step}
        fit={() => setZoom(undefined)}
      />
      <div
        ref={scroller}
        class="pdf-pages"
        role="region"
        aria-label={name}
        tabIndex={0}
        onKeyDown={pressed}
        data-testid="media-pdf"
      >
        {numbers(count).map((page) => {
          const { width, height } = sizes.get(page) ?? pdf.size;
          return (
            <div
              key={page}
              class="pdf-page"
              role="group"
              aria-label={`Page ${page}`}
              style={{ width: `${width * scale}px`, height: `${height * scale}px` }}
              data-page={page}
            >
              {drawn.has(page) && <PdfPage pdf={pdf} number={page} scale={scale} onSize={learn} />}
            </div>
          );
        })}
      </div>
      {count < pdf.pages && (
        <p class="files-note">Showing the first {count} pages. Download the file to see the rest.</p>
      )}
    </>
  );
}
