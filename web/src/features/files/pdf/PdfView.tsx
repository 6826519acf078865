/** A PDF, page by page; its code comes with the first one that is opened. */
import { Button } from "../../../ui/Button.tsx";
import { useEffect, useRef, useState, useLayoutEffect } from "preact/hooks";
import { formatError } from "../../../api/errors.ts";
import { drawPage, type Pdf, openPdf } from "./document.ts";
import {
  type Size,
  pageAt,
  drawnOf,
  PAGES_MAX,
  percentOf,
  scaleOf,
  stepped,
  pageOf,
  BYTES_MAX,
  describePdfError,
} from "./layout.ts";
import type { RefObject } from "preact";
import { IconButton } from "../../../ui/IconButton.tsx";
import { useDraftText } from "../../../ui/useDraftText.ts";
import { readWhole } from "../raw.ts";
import type { Opened, Media } from "../state.ts";
import { formatBytes } from "../../../lib/format.ts";
import { downloadFile } from "../requests.ts";
import "../preview.css";
import "./pdf.css";

interface PagesProps {
  pdf: Pdf;
  number: number;
  scale: number;
  onSize: (number: number, size: Size) => void;
}

function PdfPage({ pdf, number, scale, onSize }: PagesProps) {
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

/** A page counts as read from where it is so far up, as a part of the view. */
const READ_AT = 0.4;

const pageAmong = (scroller: HTMLElement): number => {
  const height = scroller.scrollTop + scroller.clientHeight * READ_AT;
  const top = (page: number): number => (scroller.children[page - 1] as HTMLElement).offsetTop;
  return pageAt(scroller.children.length, top, height);
};

/** @param pages children of the scroller, in order; 0 while there are none. */
function useNearViewport(scroller: RefObject<HTMLElement | null>, pages: number) {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  const [current, setCurrent] = useState(1);
  useEffect(() => {
    const place = scroller.current;
    if (!place || pages === 0) return;
    const inView = new Set<number>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const page = Number((target as HTMLElement).dataset["page"]);
          if (isIntersecting) inView.add(page);
          else inView.delete(page);
        }
        setNear(new Set(inView));
      },
      { root: place, rootMargin: "50% 0px" },
    );
    for (const page of place.children) observer.observe(page);
    const moved = (): void => setCurrent(pageAmong(place));
    place.addEventListener("scroll", moved, { passive: true });
    return () => {
      observer.disconnect();
      place.removeEventListener("scroll", moved);
    };
  }, [pages]);
  return { near, current };
}

/** @returns pixels; 0 until it is known. */
function useAvailableWidth(place: RefObject<HTMLElement | null>, there: boolean): number {
  const [room, setRoom] = useState(0);
  useEffect(() => {
    if (!place.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setRoom(Math.floor(entry.contentRect.width)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [there]);
  return room;
}

/** A page, and how far down it, as a part of its height. */
interface Anchor {
  page: number;
  part: number;
}

const elementOf = (scroller: HTMLElement, page: number) => scroller.children[page - 1] as HTMLElement;

/** Read as one scrolls: later the browser may have moved the view, to where the smaller pages end. */
function anchorOf(scroller: HTMLElement): Anchor {
  const page = pageAt(
    scroller.children.length,
    (each) => elementOf(scroller, each).offsetTop,
    scroller.scrollTop,
  );
  const { offsetTop, offsetHeight } = elementOf(scroller, page);
  return { page, part: (scroller.scrollTop - offsetTop) / offsetHeight };
}

function useAnchor(scroller: RefObject<HTMLElement | null>, scale: number): void {
  const anchor = useRef<Anchor | undefined>(undefined);
  useEffect(() => {
    const place = scroller.current;
    const moved = (): void => {
      if (place) anchor.current = anchorOf(place);
    };
    place?.addEventListener("scroll", moved, { passive: true });
    return () => place?.removeEventListener("scroll", moved);
  }, []);
  useLayoutEffect(() => {
    const place = scroller.current;
    if (!place || !anchor.current) return;
    const { offsetTop, offsetHeight } = elementOf(place, anchor.current.page);
    place.scrollTop = offsetTop + anchor.current.part * offsetHeight;
  }, [scale]);
}

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

interface Props {
  current: number;
  pages: number;
  percent: number;
  go: (page: number) => void;
  zoom: (by: 1 | -1) => void;
  fit: () => void;
}

export function PdfBar({ current, pages, percent, go, zoom, fit }: Props) {
  const { settle, ...typed } = useDraftText(String(current));
  const ask = (field: HTMLInputElement): void => {
    go(pageOf(field.value, pages) ?? current);
    field.value = String(pageOf(field.value, pages) ?? current);
    settle();
  };
  return (
    <div class="pdf-bar">
      <IconButton icon="up" label="Previous page" disabled={current <= 1} onClick={() => go(current - 1)} />
      <IconButton icon="down" label="Next page" disabled={current >= pages} onClick={() => go(current + 1)} />
      <label>
        <input
          class="field"
          aria-label="Page"
          inputMode="numeric"
          {...typed}
          onChange={(event) => ask(event.currentTarget)}
          onBlur={settle}
          data-testid="pdf-page"
        />
        <span data-testid="pdf-pages">of {pages}</span>
      </label>
      <span class="pdf-space" />
      <IconButton icon="shrink" label="Zoom out" keys="-" onClick={() => zoom(-1)} testid="pdf-smaller" />
      <Button small title="Fit width  0" onClick={fit} testid="pdf-fit">
        {percent} %
      </Button>
      <IconButton icon="grow" label="Zoom in" keys="+" onClick={() => zoom(1)} testid="pdf-larger" />
    </div>
  );
}

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

function Unread({ file, why }: { file: Opened; why: string }) {
  return (
    <div class="files-none" role="alert" data-testid="pdf-problem">
      <p>{why}</p>
      <Button onClick={() => void downloadFile(file.sessionId, file.path)}>Download file</Button>
    </div>
  );
}

function Read({ file, name }: { file: Opened; name: string }) {
  const { pdf, problem } = usePdf(file);
  if (problem !== "") return <Unread file={file} why={problem} />;
  return pdf ? <Pages pdf={pdf} name={name} /> : <p class="files-none">Loading…</p>;
}

export function PdfView({ file, media }: { file: Opened; media: Media }) {
  const name = media.path.slice(media.path.lastIndexOf("/") + 1);
  return (
    <div class="pdf">
      {media.size > BYTES_MAX ? (
        <Unread file={file} why={`This file (${formatBytes(media.size)}) is too large to show here.`} />
      ) : (
        <Read file={file} name={name} />
      )}
    </div>
  );
}
