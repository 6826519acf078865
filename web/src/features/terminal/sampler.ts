/** Reads a screen now and then, where it is too small for anybody to follow what it shows. */
import type { TerminalResponse } from "../../api/types.ts";

/** At most two samples a second (ms). */
export const SAMPLE_MS = 500;
/** While nothing changes, the pauses grow up to this (ms). */
export const REST_MS = 4_000;

/** A stream of more bytes a second is a flood: nobody follows it beside the terminal that has the keyboard. */
export const FLOOD_BYTES = 200_000;
/** A screen that has not changed for this pause (ms) is no longer flooded. */
const CALM_MS = 2_000;

/** Tells whether a stream floods its terminal. */
export class FloodGauge {
  private since = 0;
  private bytes = 0;

  /** @param now in milliseconds. */
  isFlood(bytes: number, now: number): boolean {
    if (now - this.since > 1_000) {
      this.since = now;
      this.bytes = 0;
    }
    this.bytes += bytes;
    return this.bytes > FLOOD_BYTES;
  }
}

export interface SamplerEnvironment {
  read(): Promise<TerminalResponse>;
  /** A screen that differs from the one before. */
  draw(screen: TerminalResponse): void;
  hidden(): boolean;
  /** The screen has not changed for a while. */
  calm(): void;
}

/** Samples of several terminals are drawn so long apart (ms), each in a frame of its own. */
export const APART_MS = 30;

let last: Promise<void> = Promise.resolve();

function apart(): Promise<void> {
  const mine = last;
  last = mine.then(() => new Promise((resolve) => setTimeout(resolve, APART_MS)));
  return mine;
}

const markOf = ({ epoch, offset, captureCols, captureRows }: TerminalResponse): string =>
  [epoch, offset, captureCols, captureRows].join();

export class Sampler {
  private readonly env: SamplerEnvironment;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts the starts, so that an answer to an earlier one is not drawn. */
  private turn = 0;
  private pause = SAMPLE_MS;
  private mark = "";
  on = false;

  constructor(env: SamplerEnvironment) {
    this.env = env;
  }

  start(): void {
    if (this.on) return;
    this.on = true;
    this.mark = "";
    this.again();
  }

  stop(): void {
    this.on = false;
    this.turn += 1;
    clearTimeout(this.timer);
  }

  /**
   * Something may have changed.
   * @param drawn what is shown is not to be trusted: draw the screen also if it is the same.
   */
  again(drawn = false): void {
    if (!this.on) return;
    if (drawn) this.mark = "";
    this.turn += 1;
    this.pause = SAMPLE_MS;
    clearTimeout(this.timer);
    void this.step(this.turn);
  }

  private async step(turn: number): Promise<void> {
    if (!this.env.hidden()) await this.sample(turn);
    if (turn === this.turn) this.timer = setTimeout(() => void this.step(turn), this.pause);
  }

  private async sample(turn: number): Promise<void> {
    try {
      const screen = await this.env.read();
      await apart();
      if (turn !== this.turn) return;
      const mark = markOf(screen);
      this.pause = mark === this.mark ? Math.min(REST_MS, this.pause * 2) : SAMPLE_MS;
      if (mark !== this.mark) this.env.draw(screen);
      this.mark = mark;
      if (this.pause >= CALM_MS) this.env.calm();
    } catch (error) {
      // It ended, or the connection is lost: both are told where they belong, and the screen stays.
      console.info("a screen was not read", error);
      this.pause = REST_MS;
    }
  }
}
