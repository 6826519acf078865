import { describe, expect, test } from "vitest";
import { EchoPredictor, type EchoScreen } from "./predictor.ts";

const COLS = 60;
const PATIENCE_MS = 900;
const [ENTER, ERASE, CANCEL] = ["\r", "\x7f", "\x03"];

/** A screen of one growing column of rows. */
class Paper {
  rows = [""];
  x = 0;

  write(text: string): void {
    for (const char of text) {
      if (char === "\n") {
        this.rows.push("");
        this.x = 0;
      } else if (char === "\b") {
        this.x = Math.max(0, this.x - 1);
        this.last = this.last.slice(0, this.x);
      } else {
        if (this.x === COLS) this.write("\n");
        this.last = this.last.slice(0, this.x) + char + this.last.slice(this.x + 1);
        this.x += 1;
      }
    }
  }

  get last(): string {
    return this.rows.at(-1) ?? "";
  }

  set last(row: string) {
    this.rows[this.rows.length - 1] = row;
  }

  screen(full = false): EchoScreen {
    return {
      y: this.rows.length - 1,
      x: Math.min(this.x, COLS - 1),
      cols: COLS,
      row: this.last.padEnd(COLS),
      full,
    };
  }
}

type Mode = "shell" | "busy" | "password" | "stars" | "silent";
/** What is typed there must not be shown. */
const HIDING: ReadonlySet<Mode> = new Set(["password", "stars", "silent"]);

const PROMPTS = ["$ ", "me@host:~/code$ ", "❯ ", ">>> "];
const QUESTIONS = ["Password: ", "[sudo] password for me: ", "Enter passphrase for key '/k': ", "", "PIN> "];

/** A shell behind a line discipline, and what people start in it. */
class FakeProgram {
  mode: Mode = "shell";
  private typed = "";
  private held = "";
  private readonly pick: <T>(all: readonly T[]) => T;
  readonly prompt: string;

  constructor(pick: <T>(all: readonly T[]) => T) {
    this.pick = pick;
    this.prompt = pick(PROMPTS);
  }

  /** @returns what it writes for a key. */
  take(key: string): string {
    if (key === CANCEL) return this.end("^C");
    if (this.mode === "busy") {
      this.held += key;
      return key === ENTER ? "\n" : key === ERASE ? "\b" : key;
    }
    if (this.mode === "shell") return this.edit(key);
    if (key === ENTER) return this.end("");
    return this.mode === "stars" && key !== ERASE ? "*" : "";
  }

  /** A command comes to its end. */
  end(word: string): string {
    const held = word === "" && this.mode === "busy" ? this.held : "";
    this.mode = "shell";
    this.typed = this.held = "";
    let written = `${word}\n${this.prompt}`;
    for (const key of held) written += this.take(key);
    return written;
  }

  private edit(key: string): string {
    if (key === ENTER) return this.start();
    if (key !== ERASE) {
      this.typed += key;
      return key;
    }
    if (this.typed === "") return "";
    this.typed = this.typed.slice(0, -1);
    return "\b";
  }

  private start(): string {
    this.typed = "";
    this.mode = this.pick(["shell", "shell", "busy", "password", "stars", "silent"] as const);
    if (this.mode === "shell") return `\nsome output\nmore of it\n${this.prompt}`;
    if (this.mode === "busy") return "\nworking\n";
    return `\n${this.pick(QUESTIONS)}`;
  }
}

/** Numbers from 0 to 1, the same ones for a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Played {
  letters: number;
  shown: number;
  wrong: number;
  /** Keys that were shown, though the program took them for a secret. */
  leaks: string[];
  left: boolean;
}

/** A person who types ahead of a far program. */
function play(seed: number): Played {
  const random = seeded(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const program = new FakeProgram(pick);
  const paper = new Paper();
  paper.write(program.prompt);
  const predictor = new EchoPredictor();
  const trip = 60 + random() * 340;
  const queue: { at: number; act: () => void }[] = [];
  const played: Played = { letters: 0, shown: 0, wrong: 0, leaks: [], left: false };
  const inputs = { sent: 0, answered: 0 };
  let [now, toProgram, toPage] = [0, 0, 0];
  const early = new Set<number>();
  let counted = 0;
  const look = (newest: number) => {
    const { shown } = predictor.counts;
    for (let number = newest - (shown - counted) + 1; number <= newest; number++) early.add(number);
    counted = shown;
  };
  const later = (at: number, act: () => void) => {
    queue.push({ at, act });
    queue.sort((a, b) => a.at - b.at);
  };
  const answer = (number: number) => {
    toPage = Math.max(toPage, now + trip / 2 + random() * 20);
    later(toPage, () => (inputs.answered = number));
  };
  const write = (text: string) => {
    if (text === "") return;
    toPage = Math.max(toPage, now + trip / 2 + random() * 40);
    later(toPage, () => {
      paper.write(text);
      predictor.seen(paper.screen(), { ...inputs }, PATIENCE_MS, now);
      look(inputs.sent);
    });
  };
  const type = (key: string) => {
    predictor.typed(key, paper.screen(), { ...inputs }, now);
    const number = ++inputs.sent;
    look(number);
    toProgram = Math.max(toProgram, now + trip / 2 + random() * 20);
    later(toProgram, () => {
      const before = program.mode;
      if (HIDING.has(before) && early.has(number)) played.leaks.push(`${seed}: ${key} at ${Math.round(now)}`);
      answer(number);
      write(program.take(key));
      if (program.mode === "busy" && before !== "busy")
        later(now + random() * 1500, () => program.mode === "busy" && write(program.end("")));
    });
  };
  let keys = 400;
  const person = () => {
    if (keys-- <= 0) return;
    const secret = HIDING.has(program.mode);
    const chance = random();
    if (secret) type(chance < 0.12 ? ENTER : pick([..."SECRET"]));
    else if (chance < 0.05) type(ENTER);
    else if (chance < 0.08) type(ERASE);
    else if (chance < 0.085) type(CANCEL);
    else {
      played.letters += 1;
      type(pick([..."etaoins rhl-./"]));
    }
    later(now + (random() < 0.03 ? 600 : 60 + random() * 160), person);
  };
  later(0, person);
  for (let next = queue.shift(); next; next = queue.shift()) {
    now = next.at;
    next.act();
  }
  predictor.seen(paper.screen(), inputs, PATIENCE_MS, now + 10 * PATIENCE_MS);
  predictor.seen(paper.screen(), inputs, PATIENCE_MS, now + 20 * PATIENCE_MS);
  return { ...played, ...predictor.counts, left: predictor.guess !== undefined };
}

describe("a person at a far shell", () => {
  const all = Array.from({ length: 300 }, (_, seed) => play(seed + 1));
  const sum = (of: (each: Played) => number) => all.reduce((total, each) => total + of(each), 0);

  test("never sees a secret", () => {
    expect(all.flatMap(({ leaks }) => leaks)).toEqual([]);
  });

  test("sees most letters at once, and hardly a wrong one", () => {
    const [letters, shown, wrong] = [
      sum((each) => each.letters),
      sum((each) => each.shown),
      sum((each) => each.wrong),
    ];
    console.info(`${shown} of ${letters} letters at once, ${wrong} wrong`);
    expect(shown / letters).toBeGreaterThan(0.7);
    expect(wrong / shown).toBeLessThan(0.01);
  });

  test("is left with what the program wrote", () => {
    expect(all.filter(({ left }) => left)).toEqual([]);
  });
});

describe("a row that was echoed", () => {
  const screenAt = (row: string, x: number, full = false): EchoScreen => ({
    y: 3,
    x,
    cols: COLS,
    row: row.padEnd(COLS),
    full,
  });
  const settled = (count: number) => ({ sent: count, answered: count });

  /** @returns the guess for a second letter, once a first one was echoed. */
  function guessAfter(before: EchoScreen, after: EchoScreen): EchoPredictor {
    const predictor = new EchoPredictor();
    predictor.typed("a", before, settled(0), 0);
    expect(predictor.guess).toBeUndefined();
    predictor.seen(after, settled(1), PATIENCE_MS, 300);
    predictor.typed("b", after, settled(1), 400);
    return predictor;
  }

  test("is guessed at from then on, also in the frame of a composer", () => {
    const framed = (text: string) => `│ > ${text}`.padEnd(COLS - 1) + "│";
    expect(guessAfter(screenAt("$ ", 2), screenAt("$ a", 3)).guess).toEqual({
      y: 3,
      x: 3,
      text: "b ",
      caret: 4,
    });
    expect(guessAfter(screenAt(framed(""), 4), screenAt(framed("a"), 5)).guess).toMatchObject({
      x: 5,
      caret: 6,
    });
  });

  test.each([
    ["a program that has the whole screen", screenAt("$ ", 2, true), screenAt("$ a", 3, true)],
    ["text behind the caret, which would move", screenAt("$ | wc", 2), screenAt("$ a| wc", 3)],
    ["another letter than was typed", screenAt("$ ", 2), screenAt("$ *", 3)],
    ["a question for a secret", screenAt("Token: ", 7), screenAt("Token: a", 8)],
    ["no prompt", screenAt("", 0), screenAt("a", 1)],
  ])("is left alone: %s", (_, before, after) => {
    expect(guessAfter(before, after).guess).toBeUndefined();
  });

  test("loses a guess that is not confirmed in time", () => {
    const after = screenAt("$ a", 3);
    const predictor = guessAfter(screenAt("$ ", 2), after);
    expect(predictor.deadline(PATIENCE_MS)).toBe(400 + PATIENCE_MS);
    predictor.seen(after, settled(2), PATIENCE_MS, 400 + PATIENCE_MS);
    expect(predictor.guess).toBeUndefined();
    expect(predictor.counts).toEqual({ shown: 1, wrong: 1 });
  });

  test("ends with a key of another kind, and with what is pasted", () => {
    for (const key of ["\t", "\x1b[A", "\r", "漢", "\x1b[200~b\x1b[201~", "b".repeat(40)]) {
      const predictor = guessAfter(screenAt("$ ", 2), screenAt("$ a", 3));
      predictor.typed(key, screenAt("$ a", 3), settled(1), 500);
      expect(predictor.guess).toBeUndefined();
    }
  });
});
