/** How long to wait before trying again. */

export interface BackoffRule {
  /** Milliseconds before the first retry. */
  first: number;
  /** Milliseconds that no wait goes beyond. */
  most: number;
}

/**
 * Doubles with every failure; the upper half of each wait is drawn, so that many pages that
 * lost the same service do not come back in the same moment.
 * @param failures retries already made, from 0.
 * @param random a draw from 0 up to 1.
 */
export function backoff(rule: BackoffRule, failures: number, random: number): number {
  const full = Math.min(rule.most, rule.first * 2 ** Math.min(failures, 30));
  return Math.round(full / 2 + (full / 2) * random);
}
