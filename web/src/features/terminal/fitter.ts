/** Keeps one terminal, its window and the session's size in step. */
import type { ITerminalOptions, Terminal } from "@xterm/xterm";
import { SCROLLBAR } from "./create.ts";
import type { ClientFrame } from "./link/frames.ts";
import {
  type Area,
  fitGrid,
  fontFor,
  type Grid,
  isCramped,
  rowsIn,
  sameGrid,
  SizeClaim,
  viewportOf,
} from "./sizing.ts";

/** Window changes come in bursts; the program should redraw once. */
const SETTLE_MS = 120;

/** Family and row height, which change a cell like the size does. */
export const shapeOf = (options: ITerminalOptions): string =>
  `${options.fontFamily ?? ""} ${options.lineHeight ?? 1}`;

export interface FitterListener {
  send(frame: ClientFrame): void;
  /** It is known whether the host is large enough to be read. */
  fitted(): void;
  /** The size shown is another viewer's, or undefined when it is this window's. */
  foreign(grid: Grid | undefined): void;
}

export class Fitter {
  private readonly host: HTMLElement;
  private readonly terminal: Terminal;
  private readonly listener: FitterListener;
  private readonly claim = new SizeClaim();
  private readonly observer: ResizeObserver;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private fontSize: number;
  private shape: string;
  /** One cell at the chosen font size. */
  private cell: Area | undefined;
  /** Other terminals stand beside this one. */
  beside = false;
  /** The keyboard is its. */
  front = true;
  /** Too small to be read; it then claims no size. */
  cramped = false;
  /** The person wants the size of this window all the same. */
  private insisted = false;

  constructor(host: HTMLElement, terminal: Terminal, listener: FitterListener) {
    this.host = host;
    this.terminal = terminal;
    this.listener = listener;
    this.fontSize = terminal.options.fontSize ?? 14;
    this.shape = shapeOf(terminal.options);
    this.observer = new ResizeObserver(() => this.soon());
  }

  start(): void {
    this.observer.observe(this.host);
    this.fit();
  }

  /** Take this size for the session, however small it is. */
  insist(): void {
    this.insisted = true;
    this.fit();
    this.reclaim(true);
  }

  stop(): void {
    clearTimeout(this.settle);
    this.observer.disconnect();
    this.insisted = false;
  }

  /** @param shape whatever else makes a cell larger or smaller. */
  setFont(fontSize: number, shape: string): void {
    if (fontSize === this.fontSize && shape === this.shape) return;
    this.shape = shape;
    this.fontSize = fontSize;
    this.terminal.options.fontSize = fontSize;
    this.cell = undefined;
    this.soon();
  }

  /** The size that the service says the session has on a new connection. */
  connected(grid: Grid): void {
    this.resize(grid);
    this.claim.answered(grid);
    // Also when it fits: the service gives a size that was left to whoever asked for one.
    if (this.visible && !this.cramped) this.demand();
    this.layout();
  }

  /** A size that the service applied. */
  applied(grid: Grid): void {
    this.claim.answered(grid);
    this.resize(grid);
    this.layout();
  }

  /**
   * A screen of the session's size was read, whose last rows are enough.
   * @returns how many of them are shown.
   */
  glanced(grid: Grid): number {
    this.claim.answered(grid);
    this.layout();
    const { cell, fontSize } = this;
    if (!cell) return grid.rows;
    const row = (cell.height * (this.terminal.options.fontSize ?? fontSize)) / fontSize;
    const rows = rowsIn(grid, this.area(), row);
    this.resize({ cols: grid.cols, rows });
    return rows;
  }

  /** Keep the caret in sight, where more rows than fit are live in a small cell. */
  follow(): void {
    if (!this.cramped || !this.front) return;
    const { rows, buffer } = this.terminal;
    const inner = this.host.scrollHeight - this.host.clientHeight;
    if (inner > 0)
      this.host.scrollTop = inner - ((rows - 1 - buffer.active.cursorY) * this.host.scrollHeight) / rows;
  }

  /** The person turned to this window: its size should hold. */
  reclaim(force = false): void {
    // Whether it is visible is asked last: the browser lays the page out for that, and every key comes here.
    if ((force || (!this.cramped && this.claim.due)) && this.visible) this.demand(force);
  }

  fit(): void {
    const area = this.area();
    const cell = this.measure();
    if (!this.visible || !cell) return;
    const grid = fitGrid(area, cell);
    this.cramped = grid !== undefined && this.beside && !this.insisted && isCramped(grid);
    if (grid && !this.cramped && this.claim.want(grid)) this.demand();
    this.layout();
    this.listener.fitted();
  }

  private get visible(): boolean {
    return this.host.offsetParent !== null && this.host.clientWidth > 0;
  }

  private soon(): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.fit(), SETTLE_MS);
  }

  private demand(force = false): void {
    const viewport = viewportOf(
      { width: screen.width, height: screen.height },
      matchMedia("(pointer: coarse)").matches,
    );
    const frame = this.claim.frame(viewport, force);
    if (frame) this.listener.send(frame);
  }

  private area(): Area {
    const style = getComputedStyle(this.host);
    const sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const ends = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    return { width: this.host.clientWidth - sides - SCROLLBAR, height: this.host.clientHeight - ends };
  }

  private measure(): Area | undefined {
    if (this.terminal.options.fontSize !== this.fontSize) return this.cell;
    const grid = this.host.querySelector(".xterm-screen");
    const box = grid?.getBoundingClientRect();
    if (!box || box.width === 0) return this.cell;
    this.cell = { width: box.width / this.terminal.cols, height: box.height / this.terminal.rows };
    return this.cell;
  }

  private resize(grid: Grid): void {
    if (!sameGrid(grid, this.terminal)) this.terminal.resize(grid.cols, grid.rows);
    this.host.dataset["cols"] = String(grid.cols);
    this.host.dataset["rows"] = String(grid.rows);
  }

  /**
   * Another viewer's grid is made smaller as long as it can be read, then scrolls; in a small cell only its
   * last rows are shown. Ours is never touched.
   */
  private layout(): void {
    const { applied, foreign } = this.claim;
    const shown = this.cramped || foreign ? applied : undefined;
    const cell = this.measure();
    const size =
      shown && cell ? fontFor(shown, this.area(), cell, this.fontSize, this.cramped) : this.fontSize;
    if (this.terminal.options.fontSize !== size) this.terminal.options.fontSize = size;
    this.host.toggleAttribute("data-foreign", shown !== undefined);
    this.host.toggleAttribute("data-glance", this.cramped && !this.front);
    this.listener.foreign(shown);
    this.follow();
  }
}
