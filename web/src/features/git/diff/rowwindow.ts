/** Which rows of a long list are drawn: all have the same height. */

export interface RowSpan {
  first: number;
  /** Behind the last. */
  end: number;
}

/** Rows drawn above and below what is seen, so that a flick does not show gaps. */
export const SPARE = 30;
/** Rows by which a window moves: scrolling within it draws nothing. */
export const STEP = 15;

/** @param top @param height of what is seen, in pixels. */
export function spanOf(top: number, height: number, row: number, rows: number): RowSpan {
  const at = Math.floor(Math.max(0, top) / row / STEP) * STEP;
  const seen = Math.ceil(height / row) + STEP;
  return { first: Math.max(0, Math.min(at, rows) - SPARE), end: Math.min(rows, at + seen + SPARE) };
}
