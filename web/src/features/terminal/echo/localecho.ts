/** Draws typed characters over a terminal at once, marked until the program has echoed them. */
import type { IBufferLine, IDisposable, Terminal } from "@xterm/xterm";
import "./localecho.css";
import { EchoPredictor, type EchoScreen, type Guess, type Inputs } from "./predictor.ts";

export interface EchoEnvironment {
  /** Milliseconds to the service and back. */
  readonly roundTrip: number;
  readonly inputs: Inputs;
}

/** An echo may come so much later than the answer that the input was typed (ms). */
const PROGRAM_MS = 300;

export class LocalEcho {
  private readonly terminal: Terminal;
  private readonly env: EchoEnvironment;
  private readonly predictor = new EchoPredictor();
  private readonly layer = document.createElement("div");
  private readonly ends: IDisposable[];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(terminal: Terminal, env: EchoEnvironment) {
    this.terminal = terminal;
    this.env = env;
    this.layer.className = "local-echo";
    this.layer.dataset["testid"] = "local-echo";
    this.layer.ariaHidden = "true";
    terminal.element?.querySelector(".xterm-screen")?.append(this.layer);
    this.ends = [
      terminal.onWriteParsed(() => this.look()),
      terminal.onScroll(() => this.draw()),
      terminal.onResize(() => this.reset()),
    ];
  }

  /** Call before the input is sent. */
  typed(data: string): void {
    this.predictor.typed(data, screenOf(this.terminal), this.env.inputs, performance.now());
    this.draw();
  }

  reset(): void {
    this.predictor.reset();
    this.draw();
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const end of this.ends) end.dispose();
    this.layer.remove();
  }

  private get patience(): number {
    return 2 * this.env.roundTrip + PROGRAM_MS;
  }

  private look(): void {
    this.predictor.seen(screenOf(this.terminal), this.env.inputs, this.patience, performance.now());
    this.draw();
  }

  private draw(): void {
    clearTimeout(this.timer);
    const due = this.predictor.deadline(this.patience);
    if (due !== undefined) this.timer = setTimeout(() => this.look(), Math.max(1, due - performance.now()));
    const { guess } = this.predictor;
    const row = guess ? guess.y - this.terminal.buffer.active.viewportY : -1;
    if (guess && row >= 0 && row < this.terminal.rows) this.cover(guess, row);
    else if (this.layer.firstChild) this.layer.replaceChildren();
  }

  private cover({ x, text, caret }: Guess, row: number): void {
    const { terminal, layer } = this;
    const screen = layer.parentElement;
    const width = (screen?.clientWidth ?? 0) / terminal.cols;
    const height = (screen?.clientHeight ?? 0) / terminal.rows;
    const { theme, fontFamily, fontSize } = terminal.options;
    layer.style.cssText = `left:${x * width}px;top:${row * height}px;font:${fontSize}px/${height}px ${fontFamily};
      color:${theme?.foreground};background:${theme?.background};--caret:${theme?.cursor}`;
    const cells = Array.from(text, (char) => {
      const cell = document.createElement("span");
      cell.textContent = char;
      cell.style.width = `${width}px`;
      return cell;
    });
    cells[caret - x]?.classList.add("caret");
    layer.replaceChildren(...cells);
  }
}

function screenOf({ buffer: { active }, cols, modes }: Terminal): EchoScreen {
  const y = active.baseY + active.cursorY;
  return {
    y,
    x: active.cursorX,
    cols,
    row: rowOf(active.getLine(y), cols),
    full: active.type === "alternate" || modes.mouseTrackingMode !== "none",
  };
}

/** The second cell of a wide character, and what is joined in one cell, equals nothing that is typed. */
function rowOf(line: IBufferLine | undefined, cols: number): string {
  let row = "";
  for (let x = 0; x < cols; x++) {
    const cell = line?.getCell(x);
    const chars = cell?.getChars() || " ";
    row += cell?.getWidth() === 1 && chars.length === 1 ? chars : "\0";
  }
  return row;
}
