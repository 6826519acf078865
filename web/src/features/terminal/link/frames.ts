/** The text frames of the terminal WebSocket (protocol-websocket). */

/** The first and the last of some characters, and the cells that each takes; 0: it is not shown. */
export type GlyphRun = readonly [first: number, last: number, cells: 0 | 1 | 2];

export interface Hello {
  t: "hello";
  epoch: string | null;
  offset: number;
  cols: number;
  rows: number;
  resumed: boolean;
  widths?: readonly GlyphRun[];
}

export interface Snapshot {
  t: "snapshot";
  offset: number;
  cols: number;
  rows: number;
  data: string;
}

export interface Size {
  t: "size";
  c: number;
  r: number;
}

export interface Ack {
  t: "ack";
  seq: number;
  dup?: boolean;
  /** It waits for the session's host (protocol-wake). */
  buffered?: boolean;
  last?: number;
  err?: string;
}

export interface Exit {
  t: "exit";
  status?: number;
}

/** The way to a remote host went or came back. */
export interface Far {
  t: "link";
  up: boolean;
  /** When it is tried next, in Unix milliseconds. */
  nextAt?: number;
}

export type ServerFrame = Hello | Snapshot | Size | Ack | Exit | Far;

export type Viewport = "mobile" | "tablet" | "desktop";

export type ClientFrame =
  | { t: "i"; d: string; seq: number }
  | { t: "z"; c: number; r: number; v: Viewport; f?: boolean }
  | { t: "colours"; fg: string; bg: string }
  | { t: "got"; offset: number };

type Fields = Record<string, unknown>;

const whole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const sized = (frame: Fields, c: string, r: string): boolean =>
  whole(frame[c]) && whole(frame[r]) && frame[c] > 0 && frame[r] > 0;

/** More than there are planes to fill: a broken answer costs no memory. */
const GLYPHS_MOST = 10_000;

function isRun(value: unknown): value is GlyphRun {
  if (!Array.isArray(value) || value.length !== 3 || !value.every(whole)) return false;
  const [first = 0, last = 0, cells = 0] = value as number[];
  return first <= last && last - first < GLYPHS_MOST && cells <= 2;
}

const isWidths = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.length < GLYPHS_MOST && value.every(isRun));

const CHECKS: Record<ServerFrame["t"], (frame: Fields) => boolean> = {
  hello: (f) =>
    whole(f["offset"]) &&
    sized(f, "cols", "rows") &&
    typeof f["resumed"] === "boolean" &&
    isWidths(f["widths"]),
  snapshot: (f) => whole(f["offset"]) && sized(f, "cols", "rows") && typeof f["data"] === "string",
  size: (f) => sized(f, "c", "r"),
  ack: (f) => whole(f["seq"]),
  exit: () => true,
  link: (f) => typeof f["up"] === "boolean",
};

/** @returns undefined for a frame of a kind this page does not know, or a broken one. */
export function parseFrame(text: string): ServerFrame | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof frame !== "object" || frame === null) return undefined;
  const kind = (frame as Fields)["t"];
  if (typeof kind !== "string" || !Object.hasOwn(CHECKS, kind)) return undefined;
  return CHECKS[kind as ServerFrame["t"]](frame as Fields) ? (frame as ServerFrame) : undefined;
}

/** Characters of one input frame; the service takes 65536 (protocol-input). */
export const INPUT_CHARS = 32_768;

/** Pieces of at most `limit` characters that never cut a surrogate pair. */
export function pieces(text: string, limit = INPUT_CHARS): string[] {
  const found: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + limit);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}
