/** How long a code can still be used. */

/** A code lives so long (protocol-qr), in milliseconds. */
export const LIFE_MS = 60_000;

export interface Countdown {
  /** Whole seconds left, 0 once it is over. */
  seconds: number;
  /** From 1 down to 0. */
  share: number;
}

export function countdown(expiresAt: number, now: number): Countdown {
  const left = Math.max(0, Math.min(LIFE_MS, expiresAt - now));
  return { seconds: Math.ceil(left / 1000), share: left / LIFE_MS };
}

const NAMELESS = /^\s*<svg(?![^>]*\sxmlns=)/;

/** For an `img`, where no script of an image can run; within HTML its language needs no name. */
export function imageOf(svg: string): string {
  const whole = svg.replace(NAMELESS, '<svg xmlns="http://www.w3.org/2000/svg"');
  return `data:image/svg+xml,${encodeURIComponent(whole)}`;
}
