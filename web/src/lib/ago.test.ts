import { describe, expect, test } from "vitest";
import { formatAgo, formatAhead, formatTimestamp } from "./ago.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("spans", () => {
  test.each([
    [59_999, "just now"],
    [MINUTE, "1 min ago"],
    [90 * MINUTE, "1 h ago"],
    [23 * HOUR + 59 * MINUTE, "23 h ago"],
    [DAY, "1 d ago"],
    [59 * DAY, "59 d ago"],
    [61 * DAY, "2 months ago"],
    [800 * DAY, "2 years ago"],
    [-5 * MINUTE, "just now"],
  ])("%i ms", (span, text) => {
    expect(formatAgo(1e12, 1e12 + span)).toBe(text);
  });

  test.each([
    [-1, "in a minute"],
    [MINUTE, "in a minute"],
    [59.6 * MINUTE, "in 1 h"],
    [30 * DAY - 5, "in 30 d"],
    [365 * DAY, "in 12 months"],
  ])("%i ms ahead", (span, text) => {
    expect(formatAhead(1e12 + span, 1e12)).toBe(text);
  });
});

test("stamps tell the day only where it is another one", () => {
  const now = Date.UTC(2027, 4, 3, 12, 30, 15);
  const stamp = (at: number) => formatTimestamp(at, now, "en-GB", "UTC");
  expect(stamp(now - HOUR)).toBe("11:30:15");
  expect(stamp(now - DAY)).toBe("2 May, 12:30");
  expect(stamp(now - 365 * DAY)).toBe("3 May 2026");
});
