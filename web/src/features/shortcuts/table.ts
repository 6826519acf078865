/**
 * Keys of this page. Programs in a terminal use Ctrl+letter, Alt+letter and function keys, so
 * the page takes only Ctrl+Shift, Alt+Shift and Alt+digit, and the zoom keys browsers take anyway.
 *
 * Their words are in `commands.ts`, which comes with the first page that shows them.
 */

export type Action =
  | "new"
  | "goto"
  | "next-blocked"
  | "previous"
  | "next"
  | "rename"
  | "close"
  | "tabs"
  | "prompt"
  | "cells"
  | "cell"
  | "maximise-cell"
  | "close-cell"
  | "search"
  | "history"
  | "quote"
  | "zoom-in"
  | "zoom-out"
  | "zoom-reset"
  | "palette"
  | "fleet"
  | "approvals"
  | "changes"
  | "review"
  | "cron"
  | "panel"
  | "sidebar"
  | "settings"
  | "help";

export interface Shortcut {
  action: Action;
  /** KeyboardEvent.code values: where the key is, whatever the layout and Alt make of it. */
  codes: readonly string[];
  /** Instead: what the layout writes for it, since Control with another sign is a program's key. */
  signs?: string;
  ctrl?: boolean;
  shift?: boolean;
  alt?: boolean;
  /** The key's name, where it does not follow from its code. */
  name?: string;
}

const DIGITS = ["Digit1", "Digit2", "Digit3", "Digit4", "Digit5", "Digit6", "Digit7", "Digit8", "Digit9"];
const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

const altShift = (action: Action, ...codes: string[]): Shortcut => ({
  action,
  codes,
  alt: true,
  shift: true,
});
const ctrlShift = (action: Action, ...codes: string[]): Shortcut => ({
  action,
  codes,
  ctrl: true,
  shift: true,
});
const zoom = (action: Action, signs: string): Shortcut => ({
  action,
  codes: [],
  signs,
  ctrl: true,
  name: signs.charAt(0),
});

export const SHORTCUTS: readonly Shortcut[] = [
  altShift("new", "KeyN"),
  { action: "goto", codes: DIGITS, alt: true, name: "1 … 9" },
  altShift("next-blocked", "Enter", "NumpadEnter"),
  altShift("previous", "ArrowLeft"),
  altShift("next", "ArrowRight"),
  altShift("rename", "KeyR"),
  altShift("close", "KeyW"),
  altShift("tabs", "KeyT"),
  altShift("prompt", "KeyP"),
  { ...altShift("cells", ...[1, 2, 3, 4, 6, 9].map((count) => `Digit${count}`)), name: "1 2 3 4 6 9" },
  { ...ctrlShift("cell", ...ARROWS), name: "← → ↑ ↓" },
  altShift("maximise-cell", "KeyM"),
  altShift("close-cell", "KeyX"),
  ctrlShift("search", "KeyF"),
  altShift("history", "KeyH"),
  altShift("quote", "KeyQ"),
  zoom("zoom-in", "+="),
  zoom("zoom-out", "-"),
  zoom("zoom-reset", "0"),
  ctrlShift("palette", "KeyK"),
  altShift("fleet", "KeyF"),
  altShift("approvals", "KeyA"),
  altShift("changes", "KeyG"),
  altShift("review", "KeyV"),
  altShift("cron", "KeyJ"),
  altShift("panel", "KeyL"),
  altShift("sidebar", "KeyB"),
  altShift("settings", "KeyS"),
  { ...ctrlShift("help"), signs: "?", name: "/" },
];

const ARROW_NAMES: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→" };

const nameKey = ([code = ""]: readonly string[]): string =>
  ARROW_NAMES[code] ?? code.replace(/^(?:Key|Digit)/, "");

/** The keys as people read them: `Alt+Shift+N`. */
export function formatShortcut({ ctrl, alt, shift, codes, name }: Shortcut): string {
  const held = [ctrl && "Ctrl", alt && "Alt", shift && "Shift"].filter(Boolean);
  return [...held, name ?? nameKey(codes)].join("+");
}

const find = (action: Action): Shortcut | undefined => SHORTCUTS.find((each) => each.action === action);

export function formatKeysOf(action: Action): string {
  const shortcut = find(action);
  return shortcut ? formatShortcut(shortcut) : "";
}

export interface Pressed {
  code: string;
  key: string;
  ctrlKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

function isPressed(shortcut: Shortcut, event: Pressed, mac: boolean): boolean {
  const zooms = shortcut.action.startsWith("zoom");
  const command = mac && zooms ? event.metaKey : event.ctrlKey;
  const stray = mac && zooms ? event.ctrlKey : event.metaKey;
  // A plus needs Shift on many keyboards.
  const shifted = zooms || event.shiftKey === (shortcut.shift ?? false);
  return (
    !stray && shifted && command === (shortcut.ctrl ?? false) && event.altKey === (shortcut.alt ?? false)
  );
}

const isKeyOf = ({ codes, signs }: Shortcut, { code, key }: Pressed): boolean =>
  signs ? key.length === 1 && signs.includes(key) : codes.includes(code);

/** Where no program wants it, the key that people know from elsewhere opens the palette too. */
function isPaletteKey(event: Pressed, mac: boolean, inTerminal: boolean): boolean {
  if (event.code !== "KeyK" || event.shiftKey || event.altKey) return false;
  return mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey && !inTerminal;
}

/** @param typing a text field other than the terminal has the keyboard. */
export function actionFor(
  event: Pressed,
  mac: boolean,
  inTerminal: boolean,
  typing: boolean,
): Action | undefined {
  if (event.key === "?" && !inTerminal && !typing && !event.ctrlKey && !event.altKey) return "help";
  if (isPaletteKey(event, mac, inTerminal)) return "palette";
  return SHORTCUTS.find((shortcut) => isKeyOf(shortcut, event) && isPressed(shortcut, event, mac))?.action;
}

/** The place 0-8 that a digit key names. */
export const digitOf = (code: string): number => DIGITS.indexOf(code);
