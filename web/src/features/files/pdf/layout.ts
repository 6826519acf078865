/** Sizes of pages on the screen, and how much of a document is drawn at a time. */

/** The largest file that is read, in bytes: it is held whole. */
export const BYTES_MAX = 64 * 1024 * 1024;
/** So many pages have a place; the rest is in the download. */
export const PAGES_MAX = 2000;
/** So many pages are drawn at the same time. */
export const DRAWN_MAX = 6;
/** Pixels of one page's canvas, and of one of its sides: above that it is less sharp. */
export const PIXELS_MAX = 8 * 1024 * 1024;
export const SIDE_MAX = 8192;

/** Pixels of the page to a point of the document, at 100 %. */
const NATURAL = 96 / 72;
/** A page that fills the width is at most so large, and no page is smaller, in percent. */
const FIT_MAX = 250;
const PERCENTS = [10, 25, 50, 75, 100, 125, 150, 200, 300, 400] as const;
/** Points of a side: what the format allows, and what can still be seen. */
const POINTS = { least: 10, most: 14_400 } as const;

/** In points. */
export interface Size {
  width: number;
  height: number;
}

const between = (least: number, value: number, most: number): number =>
  Number.isFinite(value) ? Math.min(Math.max(value, least), most) : least;

/** A page's size as it is used, whatever the document says. */
export const sizeOf = ({ width, height }: Size): Size => ({
  width: between(POINTS.least, width, POINTS.most),
  height: between(POINTS.least, height, POINTS.most),
});

/**
 * Pixels to a point.
 *
 * @param zoom in percent; absent: as wide as there is room.
 * @param room in pixels.
 */
export function scaleOf(zoom: number | undefined, width: number, room: number): number {
  const percent = zoom ?? between(1, (room / width / NATURAL) * 100, FIT_MAX);
  return (percent / 100) * NATURAL;
}

export const percentOf = (scale: number): number => Math.round((scale / NATURAL) * 100);

/** The next zoom from where one is; at the ends it stays. */
export function stepped(percent: number, by: 1 | -1): number {
  const next = by > 0 ? PERCENTS.find((each) => each > percent) : PERCENTS.findLast((each) => each < percent);
  return next ?? percent;
}

/** Pixels of the canvas to a pixel of the page. */
export function sharpness({ width, height }: Size, scale: number, ratio: number): number {
  const [wide, high] = [width * scale, height * scale];
  return Math.min(ratio, Math.sqrt(PIXELS_MAX / (wide * high)), SIDE_MAX / wide, SIDE_MAX / high);
}

/** The pages that are drawn, of those in view and around it: the ones nearest to the current one. */
export function drawnOf(near: Iterable<number>, current: number): number[] {
  const distance = (page: number): number => Math.abs(page - current);
  return [...near].toSorted((one, other) => distance(one) - distance(other)).slice(0, DRAWN_MAX);
}

/**
 * The page at a height: the last one that begins above it.
 *
 * @param top where a page begins, from 1.
 */
export function pageAt(count: number, top: (page: number) => number, height: number): number {
  let [least, most] = [1, Math.max(1, count)];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (top(middle) <= height) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** What a field for a page's number means; absent: nothing. */
export function pageOf(text: string, count: number): number | undefined {
  return /^\s*\d{1,9}\s*$/.test(text) ? between(1, Number(text), count) : undefined;
}

const WORDS: Record<string, string> = {
  InvalidPDFException: "This file is damaged or not a PDF.",
  PasswordException: "This PDF needs a password. Download it to open it.",
};

/** Why a document is not shown, by the name of what was thrown; absent: not the document's fault. */
export const describePdfError = (error: unknown): string | undefined =>
  error instanceof Error ? WORDS[error.name] : undefined;
