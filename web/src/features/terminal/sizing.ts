/** How many cells fit, whose size holds, and how a foreign size is shown. */
import type { ClientFrame, Viewport } from "./link/frames.ts";

export interface Grid {
  cols: number;
  rows: number;
}

export interface Area {
  width: number;
  height: number;
}

/** Bounds of the service (protocol-size), and the least a program can draw in. */
const LEAST: Grid = { cols: 20, rows: 4 };
const MOST: Grid = { cols: 500, rows: 200 };

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** @param cell size of one cell in the area's pixels. */
export function fitGrid(area: Area, cell: Area): Grid | undefined {
  if (area.width <= 0 || area.height <= 0 || cell.width <= 0 || cell.height <= 0) return undefined;
  return {
    cols: clamp(Math.floor(area.width / cell.width), LEAST.cols, MOST.cols),
    rows: clamp(Math.floor(area.height / cell.height), LEAST.rows, MOST.rows),
  };
}

/**
 * A cell beside others takes the size of its session when at least this fits: smaller, programs would
 * draw anew for a glance, and their lines would stay broken.
 */
export const CELL_LEAST: Grid = { cols: 50, rows: 12 };

/** Whether a cell is too small to be read at the chosen font size, and shows its session made smaller. */
export const isCramped = (grid: Grid): boolean => grid.cols < CELL_LEAST.cols || grid.rows < CELL_LEAST.rows;

/** Text is not made smaller than this, however little room there is (pixels). */
export const LEAST_FONT = 10;

/**
 * The font size at which a foreign grid is shown: it fits as far as it can be read.
 * @param cell size of one cell at the font size `usual`.
 * @param cropped its last rows are enough: only the width counts.
 */
export function fontFor(grid: Grid, area: Area, cell: Area, usual: number, cropped: boolean): number {
  const across = area.width / (grid.cols * cell.width);
  const fits = cropped ? across : Math.min(across, area.height / (grid.rows * cell.height));
  return clamp(Math.floor(usual * fits * 2) / 2, Math.min(LEAST_FONT, usual), usual);
}

/** How many of a grid's rows are seen at once, and at least one. @param row height of one (pixels). */
export const rowsIn = (grid: Grid, area: Area, row: number): number =>
  clamp(Math.floor(area.height / row), 1, grid.rows);

export const sameGrid = (a: Grid | undefined, b: Grid | undefined): boolean =>
  a !== undefined && b !== undefined && a.cols === b.cols && a.rows === b.rows;

/** A phone held either way is narrower than this in CSS pixels, a tablet is not. */
const TABLET_SIDE = 600;

export function viewportOf(screen: Area, coarsePointer: boolean): Viewport {
  if (!coarsePointer) return "desktop";
  return Math.min(screen.width, screen.height) < TABLET_SIDE ? "mobile" : "tablet";
}

/**
 * This view's claim on the session's size. The service decides; a view that lost shows the
 * winner's size and claims again only when its own window changes or the person turns to it.
 */
export class SizeClaim {
  private wanted: Grid | undefined;
  /** Claimed and not answered yet. */
  private sent: Grid | undefined;
  applied: Grid | undefined;

  /** The applied size is another viewer's. */
  get foreign(): boolean {
    return this.wanted !== undefined && this.applied !== undefined && !sameGrid(this.wanted, this.applied);
  }

  /** The window's own size. @returns true when it should be claimed now. */
  want(grid: Grid): boolean {
    if (sameGrid(grid, this.wanted)) return false;
    this.wanted = grid;
    return this.foreign || this.sent !== undefined;
  }

  /** A claim is worth sending: ours differs from what holds, and none is under way. */
  get due(): boolean {
    return this.foreign && !sameGrid(this.sent, this.wanted);
  }

  answered(applied: Grid): void {
    this.sent = undefined;
    this.applied = applied;
  }

  frame(viewport: Viewport, force = false): ClientFrame | undefined {
    if (!this.wanted) return undefined;
    this.sent = this.wanted;
    const frame: ClientFrame = { t: "z", c: this.wanted.cols, r: this.wanted.rows, v: viewport };
    return force ? { ...frame, f: true } : frame;
  }
}
