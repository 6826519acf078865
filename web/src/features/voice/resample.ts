/**
 * Sound of any rate to 16 kHz, as it comes in. A low-pass of windowed sinc takes away what 16 kHz
 * cannot hold before samples are left out, or it would come back as a false tone.
 */

export const RATE = 16_000;

/** Zero crossings of the sinc on each side: the longer, the steeper the edge. */
const CROSSINGS = 24;
/** The edge, of half the rate: below it everything passes. */
const EDGE = 0.92;
/** Of the Kaiser window: what is above the edge is 80 dB weaker. */
const BETA = 8;
/** More phases than this are no rate of a microphone. */
const PHASES_MAX = 640;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; k < 40; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The taps for each place between two samples that an outgoing one can have; each sums to one. */
function tables(from: number, phases: number, half: number): Float32Array[] {
  const cutoff = Math.min(1, (RATE / from) * EDGE);
  return Array.from({ length: phases }, (_, phase) => {
    const taps = Float32Array.from({ length: 2 * half }, (_unused, index) => {
      const x = index - half + 1 - phase / phases;
      const inside = 1 - (x / half) ** 2;
      return inside <= 0 ? 0 : (sinc(x * cutoff) * bessel(BETA * Math.sqrt(inside))) / bessel(BETA);
    });
    const sum = taps.reduce((total, tap) => total + tap, 0);
    return taps.map((tap) => tap / sum);
  });
}

export class Resampler {
  #phases: number;
  #step: number;
  #half: number;
  #tables: Float32Array[];
  /** What is still needed of what came, behind `half - 1` samples of silence at first. */
  #held: Float32Array;
  /** Where the next outgoing sample stands, in phases from the first held sample. */
  #at = 0;

  /** @param from samples a second of what comes in, a whole number. */
  constructor(from: number) {
    const common = gcd(from, RATE);
    this.#phases = RATE / common;
    this.#step = from / common;
    if (!Number.isInteger(from) || from < 8_000 || this.#phases > PHASES_MAX)
      throw new RangeError(`a microphone of ${from} Hz`);
    this.#half = Math.ceil((CROSSINGS * Math.max(from, RATE)) / RATE);
    this.#tables = tables(from, this.#phases, this.#half);
    this.#held = new Float32Array(this.#half - 1);
  }

  /** @returns what follows from `sound` and what came before; the last bit waits for what follows. */
  push(sound: Float32Array): Float32Array {
    const held = new Float32Array(this.#held.length + sound.length);
    held.set(this.#held);
    held.set(sound, this.#held.length);
    const width = 2 * this.#half;
    const out: number[] = [];
    let first = Math.floor(this.#at / this.#phases);
    while (first + width <= held.length) {
      const taps = this.#tables[this.#at % this.#phases] as Float32Array;
      let sum = 0;
      for (let index = 0; index < width; index++)
        sum += (taps[index] as number) * (held[first + index] as number);
      out.push(sum);
      this.#at += this.#step;
      first = Math.floor(this.#at / this.#phases);
    }
    const done = Math.min(first, held.length);
    this.#held = held.slice(done);
    this.#at -= done * this.#phases;
    return Float32Array.from(out);
  }

  /** @returns the rest, as if silence followed. */
  end(): Float32Array {
    return this.push(new Float32Array(this.#half));
  }
}

export function toPcm16(sound: Float32Array): Int16Array<ArrayBuffer> {
  const pcm = new Int16Array(sound.length);
  for (let index = 0; index < sound.length; index++) {
    const value = Math.max(-1, Math.min(1, sound[index] as number));
    pcm[index] = Math.round(value < 0 ? value * 32_768 : value * 32_767);
  }
  return pcm;
}
