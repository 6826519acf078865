/**
 * Guesses how a program echoes typed characters, from what its screen showed before.
 *
 * A guess is made only in a line in which the program has just echoed what was typed, or behind a prompt
 * that did so before. Every key with an effect of its own (Enter, Tab, Escape, arrows) ends the line, so
 * a question for a password, which follows one, is never guessed at.
 */

/** The screen as far as a guess depends on it. */
export interface EchoScreen {
  /** Row and column of the caret; rows count from the top of the scrollback. */
  y: number;
  x: number;
  cols: number;
  /** The caret's row, one character for each cell. */
  row: string;
  /** A program has the whole screen: it draws by rules of its own. */
  full: boolean;
}

/** Numbers of the newest input that was typed, and of the newest that the program has taken. */
export interface Inputs {
  sent: number;
  answered: number;
}

/** Characters that lie over the screen until the program has drawn them. */
export interface Guess {
  y: number;
  x: number;
  text: string;
  /** Column in which the caret will stand. */
  caret: number;
}

interface Key {
  /** The line's text once the program has taken the key. */
  text: string;
  at: number;
}

interface Line {
  y: number;
  /** Column of its first typed character. */
  x: number;
  /** What the program has echoed. */
  echoed: string;
  /** Keys under way, in their order. */
  keys: Key[];
  /** Since when the screen contradicts every guess, in the clock's milliseconds. */
  wrongSince: number | undefined;
}

/** Letters of one cell each, in scripts that are written from left to right. */
const LETTER = /^[\x20-\x7e\xa1-\xac\xae-\u024f\u0370-\u0373\u0386-\u052f]$/;
const ERASE = "\x7f";
/** Nothing stands there, but for the frame around a composer. */
const EMPTY = /^ *[│┃|▌▐]? *$/;
const SECRET = /(?:pass|phrase|secret|token|\bpin\b|\bkey\b|\bcode\b|otp)[^/$#%❯➜λ»]*$/i;
/** A prompt, not a question, whose answers may be secret another time. */
const PROMPT = /[^\s\p{L}\p{N}:?]\s*$/u;

/** Screens that are drawn in steps agree again within this many milliseconds. */
export const REDRAW_MS = 80;
const PROMPTS_MOST = 16;
const AHEAD_MOST = 200;
/** Longer input is pasted, not typed. */
const TYPED_MOST = 32;

export class EchoPredictor {
  private line: Line | undefined;
  /** Typed where no guess is possible yet. */
  private ahead = "";
  /** The caret when the first of `ahead` was typed; undefined if something else was under way. */
  private start: { y: number; x: number } | undefined;
  /** Row in which the last line ended, and the number of the input that ended it. */
  private leftRow = -1;
  private leftBy = 0;
  /** The line went on in the next row. */
  private wrapped = false;
  /** Letters since the last Enter for which no line had begun. */
  private loose = "";
  private readonly prompts = new Set<string>();
  private last: EchoScreen | undefined;
  private inputs: Inputs = { sent: 0, answered: 0 };
  /** Keys that were shown ahead of their echo, and those of them that the program took otherwise. */
  readonly counts = { shown: 0, wrong: 0 };

  /** Take typed input in, before it is numbered. */
  typed(data: string, screen: EchoScreen, inputs: Inputs, now: number): void {
    this.follow(screen, inputs);
    if (screen.full || data.startsWith("\x1b") || data.length > TYPED_MOST) return this.leave(screen, "");
    for (const key of data) {
      if (key !== ERASE && !LETTER.test(key)) this.leave(screen, key);
      else if (this.line) this.extend(this.line, key, screen, now);
      else this.wait(key, screen, inputs, now);
    }
  }

  /** Compare the guesses with a screen that has changed, or has not for too long. */
  seen(screen: EchoScreen, inputs: Inputs, patience: number, now: number): void {
    this.follow(screen, inputs);
    if (screen.full) return this.leave(screen, "");
    if (!this.line) return this.begin(screen, now);
    this.compare(this.line, screen, now);
    this.judge(this.line, screen, patience, now);
  }

  /** The screen is another one: of another size, program or place in the stream. */
  reset(): void {
    this.fail();
    this.ahead = "";
    this.start = undefined;
  }

  get guess(): Guess | undefined {
    const { line, last } = this;
    const target = line?.keys.at(-1)?.text;
    if (!line || !last || target === undefined || last.y !== line.y) return undefined;
    const drawn = last.row.slice(line.x, Math.max(last.x, line.x));
    let same = 0;
    while (same < target.length && same < drawn.length && drawn[same] === target[same]) same += 1;
    // The cell of either caret is covered, too.
    const until = Math.max(target.length, drawn.length) + 1;
    return {
      y: line.y,
      x: line.x + same,
      text: target.slice(same).padEnd(until - same),
      caret: line.x + target.length,
    };
  }

  /** When `seen` is due without a change, in the clock's milliseconds. */
  deadline(patience: number): number | undefined {
    const first = this.line?.keys[0];
    if (!this.line || !first) return undefined;
    return Math.min(first.at + patience, (this.line.wrongSince ?? Infinity) + REDRAW_MS);
  }

  private follow(screen: EchoScreen, inputs: Inputs): void {
    this.last = screen;
    this.inputs = inputs;
    // Until the program has taken what ended the line, it writes of what came before.
    if (!this.isAhead) this.leftRow = screen.y;
  }

  /** The program knows that the last line ended. */
  private get isAhead(): boolean {
    return this.inputs.answered >= this.leftBy;
  }

  private leave(screen: EchoScreen, key: string): void {
    this.line = undefined;
    this.ahead = "";
    this.start = undefined;
    this.leftRow = screen.y;
    this.leftBy = this.inputs.sent + 1;
    this.wrapped = false;
    if (key === "\r") this.loose = "";
  }

  private fail(): void {
    if (this.line) this.counts.wrong += this.line.keys.length;
    this.line = undefined;
  }

  private extend(line: Line, key: string, screen: EchoScreen, now: number): void {
    const before = line.keys.at(-1)?.text ?? line.echoed;
    const text = key === ERASE ? before.slice(0, -1) : before + key;
    const room = screen.cols - 1 - line.x;
    if (text === before || text.length >= room || !isEmptyBehind(screen)) {
      this.leave(screen, key);
      this.wrapped = true;
      if (key !== ERASE) this.ahead = key;
      return;
    }
    line.keys.push({ text, at: now });
    this.counts.shown += 1;
  }

  private wait(key: string, screen: EchoScreen, { sent, answered }: Inputs, now: number): void {
    const settled = answered >= sent;
    if (settled || this.ahead.length >= AHEAD_MOST) {
      this.ahead = "";
      this.start = settled ? { y: screen.y, x: screen.x } : undefined;
    }
    if (key === ERASE && this.ahead === "") return this.leave(screen, key);
    this.ahead = key === ERASE ? this.ahead.slice(0, -1) : this.ahead + key;
    if (key !== ERASE) this.loose = (this.loose + key).slice(-AHEAD_MOST);
    this.begin(screen, now);
  }

  /** Begin a line where the screen shows that what was typed is echoed. */
  private begin(screen: EchoScreen, now: number): void {
    if (this.ahead === "" || !this.isAhead || !isEmptyBehind(screen)) return;
    const echoed = this.echoedOf(screen);
    if (echoed === undefined) return;
    const x = screen.x - echoed.length;
    const prompt = screen.row.slice(0, x);
    // Without a prompt it may be a program that reads nothing, and what is typed is for the next one.
    if (!this.wrapped && this.loose.includes(prompt.trim())) return;
    if (SECRET.test(prompt) || x + this.ahead.length >= screen.cols - 1) return;
    if (!this.wrapped && echoed !== "") this.learn(prompt);
    const line: Line = { y: screen.y, x, echoed, keys: [], wrongSince: undefined };
    for (let end = echoed.length + 1; end <= this.ahead.length; end++) {
      line.keys.push({ text: this.ahead.slice(0, end), at: now });
      this.counts.shown += 1;
    }
    this.line = line;
    this.ahead = "";
    this.start = undefined;
  }

  /** The part of `ahead` that stands before the caret; undefined if that is not sure. */
  private echoedOf({ y, x, row }: EchoScreen): string | undefined {
    const { ahead, start } = this;
    const before = row.slice(0, x);
    const ends = (length: number): boolean => length <= x && before.endsWith(ahead.slice(0, length));
    const lengths = Array.from({ length: ahead.length + 1 }, (_, index) => ahead.length - index).filter(ends);
    // Where the last line ended, its own characters look like an echo of the next.
    const moved = y !== this.leftRow;
    const found = lengths.find((length) => {
      if (this.prompts.has(before.slice(0, x - length))) return length > 0 || moved;
      if (start) return length > 0 && y === start.y && x - length === start.x;
      return moved && ahead.slice(0, length).trim().length > 1;
    });
    return found === undefined ? undefined : ahead.slice(0, found);
  }

  private learn(prompt: string): void {
    if (!PROMPT.test(prompt)) return;
    this.prompts.delete(prompt);
    this.prompts.add(prompt);
    for (const oldest of this.prompts) {
      if (this.prompts.size <= PROMPTS_MOST) break;
      this.prompts.delete(oldest);
    }
  }

  private compare(line: Line, screen: EchoScreen, now: number): void {
    const shows = (text: string): boolean => drawsLine(line, text, screen);
    const at = line.keys.findIndex(({ text }) => shows(text));
    if (at < 0 && !shows(line.echoed)) {
      line.wrongSince ??= now;
      return;
    }
    line.wrongSince = undefined;
    if (at >= 0 && !shows(line.echoed)) {
      line.echoed = line.keys[at]?.text ?? line.echoed;
      line.keys.splice(0, at + 1);
    }
  }

  private judge(line: Line, screen: EchoScreen, patience: number, now: number): void {
    const first = line.keys[0];
    if (line.wrongSince !== undefined && now - line.wrongSince >= REDRAW_MS) return this.fail();
    if (!first || now - first.at < patience) return;
    // Two keys that cancel each other leave the screen as it was.
    const last = line.keys.at(-1)?.text ?? "";
    if (!drawsLine(line, last, screen)) return this.fail();
    line.echoed = last;
    line.keys = [];
  }
}

const isEmptyBehind = ({ row, x }: EchoScreen): boolean => EMPTY.test(row.slice(x));

const drawsLine = (line: Line, text: string, { y, x, row }: EchoScreen): boolean =>
  y === line.y && x === line.x + text.length && row.slice(line.x, x) === text;
