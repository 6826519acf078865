/** Keys of the touch bar: sticky modifiers and the bytes that a terminal sends for each key. */

export type ModifierState = "off" | "once" | "locked";

export interface Sticky {
  ctrl: ModifierState;
  alt: ModifierState;
}

export const LOOSE: Sticky = { ctrl: "off", alt: "off" };

/** A tap arms for one key, a second locks, a third lets go. */
export function press(stick: ModifierState): ModifierState {
  if (stick === "off") return "once";
  return stick === "once" ? "locked" : "off";
}

/** After a key was sent only what is locked stays. */
export function release(sticky: Sticky): Sticky {
  const kept = (stick: ModifierState): ModifierState => (stick === "once" ? "off" : stick);
  return { ctrl: kept(sticky.ctrl), alt: kept(sticky.alt) };
}

/** Each code with the signs that write it. */
const CONTROLS = ["\0 @2", "\x1b[3", "\x1c\\4", "\x1d]5", "\x1e^6~", "\x1f_/7", "\x7f?8"];
const CONTROL_OF = new Map(CONTROLS.flatMap(([code = "", ...signs]) => signs.map((sign) => [sign, code])));

export function controlOf(char: string): string {
  const lower = char.toLowerCase();
  if (lower >= "a" && lower <= "z" && lower.length === 1)
    return String.fromCharCode(lower.charCodeAt(0) - 96);
  return CONTROL_OF.get(char) ?? char;
}

/** Typed text under the sticky modifiers; they hold for its first character. */
export function modified(data: string, sticky: Sticky): string {
  const [first] = data;
  if (first === undefined) return data;
  const rest = data.slice(first.length);
  const controlled = sticky.ctrl === "off" ? first : controlOf(first);
  return (sticky.alt === "off" ? "" : "\x1b") + controlled + rest;
}

const PLAIN = { Interrupt: "\x03", Escape: "\x1b", Tab: "\t", BackTab: "\x1b[Z", Enter: "\r" };
const CURSOR = { Up: "A", Down: "B", Right: "C", Left: "D", Home: "H", End: "F" };
const PAGE = { PageUp: "5", PageDown: "6" };

export type BarKey = keyof typeof PLAIN | keyof typeof CURSOR | keyof typeof PAGE;

type Codes = Partial<Record<BarKey, string>>;

/** @param applicationCursor the program asked for `ESC O` cursor keys (DECCKM). */
export function bytesOf(key: BarKey, applicationCursor: boolean, sticky: Sticky): string {
  const modifier = 1 + (sticky.alt === "off" ? 0 : 2) + (sticky.ctrl === "off" ? 0 : 4);
  const cursor = (CURSOR as Codes)[key];
  if (cursor !== undefined) {
    if (modifier > 1) return `\x1b[1;${modifier}${cursor}`;
    return (applicationCursor ? "\x1bO" : "\x1b[") + cursor;
  }
  const page = (PAGE as Codes)[key];
  if (page !== undefined) return modifier > 1 ? `\x1b[${page};${modifier}~` : `\x1b[${page}~`;
  return (sticky.alt === "off" ? "" : "\x1b") + ((PLAIN as Codes)[key] ?? "");
}
