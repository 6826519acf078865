/**
 * Keys of this page. Programs in a terminal use Ctrl+letter, Alt+letter and function keys, so
 * the page takes only Ctrl+Shift, Alt+Shift and Alt+digit, and the zoom keys browsers take anyway.
 */

export type Action =
  | "new"
  | "previous"
  | "next"
  | "close"
  | "rename"
  | "search"
  | "history"
  | "approvals"
  | "cron"
  | "changes"
  | "prompt"
  | "settings"
  | "help"
  | "tabs"
  | "palette"
  | "fleet"
  | "sidebar"
  | "cells"
  | "cell"
  | "maximise-cell"
  | "close-cell"
  | "panel"
  | "zoom-in"
  | "zoom-out"
  | "zoom-reset"
  | "paste"
  | "copy"
  | "quote"
  | "goto";

export interface Shortcut {
  action: Action;
  /** KeyboardEvent.code values: where the key is, whatever the layout and Alt make of it. */
  codes: readonly string[];
  /** Instead: what the layout writes for it, since Control with another sign is a program's key. */
  signs?: string;
  ctrl?: boolean;
  shift?: boolean;
  alt?: boolean;
  /** Shown in the help sheet. */
  keys: string;
  text: string;
  group: "Sessions" | "Terminal" | "Page";
  /** Only listed: the terminal or the focused element handles it. */
  listed?: boolean;
}

const DIGITS = ["Digit1", "Digit2", "Digit3", "Digit4", "Digit5", "Digit6", "Digit7", "Digit8", "Digit9"];

export const SHORTCUTS: readonly Shortcut[] = [
  {
    action: "palette",
    codes: ["KeyK"],
    ctrl: true,
    shift: true,
    keys: "Ctrl+Shift+K",
    text: "Find a session, a page or a command (Ctrl+K outside a terminal, ⌘K)",
    group: "Page",
  },
  {
    action: "new",
    codes: ["KeyN"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+N",
    text: "New session",
    group: "Sessions",
  },
  {
    action: "goto",
    codes: DIGITS,
    alt: true,
    keys: "Alt+1 … 9",
    text: "Go to session 1 to 9",
    group: "Sessions",
  },
  {
    action: "previous",
    codes: ["ArrowLeft"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+←",
    text: "Previous session",
    group: "Sessions",
  },
  {
    action: "next",
    codes: ["ArrowRight"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+→",
    text: "Next session",
    group: "Sessions",
  },
  {
    action: "rename",
    codes: ["KeyR"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+R",
    text: "Rename session (F2 on its tab or row)",
    group: "Sessions",
  },
  {
    action: "close",
    codes: ["KeyW"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+W",
    text: "Close session (Delete on its tab or row)",
    group: "Sessions",
  },
  {
    action: "tabs",
    codes: ["KeyT"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+T",
    text: "Focus the session list (Enter returns)",
    group: "Sessions",
  },
  {
    action: "sidebar",
    codes: ["KeyB"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+B",
    text: "Toggle sidebar",
    group: "Sessions",
  },
  {
    action: "cells",
    codes: ["Digit1", "Digit2", "Digit3", "Digit4", "Digit6", "Digit9"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+1 2 3 4 6 9",
    text: "Show 1, 2, 3, 4, 6 or 9 terminals",
    group: "Sessions",
  },
  {
    action: "cell",
    codes: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"],
    ctrl: true,
    shift: true,
    keys: "Ctrl+Shift+← → ↑ ↓",
    text: "Focus the terminal to the left, right, above or below",
    group: "Sessions",
  },
  {
    action: "maximise-cell",
    codes: ["KeyM"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+M",
    text: "Maximize or restore this terminal",
    group: "Sessions",
  },
  {
    action: "close-cell",
    codes: ["KeyX"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+X",
    text: "Close this cell (the session keeps running)",
    group: "Sessions",
  },
  {
    action: "panel",
    codes: ["KeyL"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+L",
    text: "Toggle panel",
    group: "Page",
  },
  {
    action: "goto",
    codes: [],
    keys: "Ctrl+Shift+← →",
    text: "Move the focused tab",
    group: "Sessions",
    listed: true,
  },
  {
    action: "copy",
    codes: [],
    keys: "Ctrl+Shift+C",
    text: "Copy selection",
    group: "Terminal",
    listed: true,
  },
  { action: "paste", codes: [], keys: "Ctrl+Shift+V", text: "Paste", group: "Terminal", listed: true },
  {
    action: "search",
    codes: ["KeyF"],
    ctrl: true,
    shift: true,
    keys: "Ctrl+Shift+F",
    text: "Search the terminal",
    group: "Terminal",
  },
  {
    action: "history",
    codes: ["KeyH"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+H",
    text: "Full history",
    group: "Terminal",
  },
  {
    action: "quote",
    codes: ["KeyQ"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+Q",
    text: "Send the next key to the program, with Ctrl if pressed alone (W sends Ctrl+W)",
    group: "Terminal",
  },
  {
    action: "zoom-in",
    codes: [],
    signs: "+=",
    ctrl: true,
    keys: "Ctrl++",
    text: "Larger text",
    group: "Terminal",
  },
  {
    action: "zoom-out",
    codes: [],
    signs: "-",
    ctrl: true,
    keys: "Ctrl+-",
    text: "Smaller text",
    group: "Terminal",
  },
  {
    action: "zoom-reset",
    codes: [],
    signs: "0",
    ctrl: true,
    keys: "Ctrl+0",
    text: "Normal text size",
    group: "Terminal",
  },
  {
    action: "fleet",
    codes: ["KeyF"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+F",
    text: "Open Fleet",
    group: "Page",
  },
  {
    action: "approvals",
    codes: ["KeyA"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+A",
    text: "Open inbox (1–9 picks an option)",
    group: "Page",
  },
  {
    action: "cron",
    codes: ["KeyJ"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+J",
    text: "Open scheduled jobs",
    group: "Page",
  },
  {
    action: "changes",
    codes: ["KeyG"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+G",
    text: "Show changes",
    group: "Page",
  },
  {
    action: "prompt",
    codes: ["KeyP"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+P",
    text: "Focus the prompt box, or return to the terminal",
    group: "Sessions",
  },
  {
    action: "settings",
    codes: ["KeyS"],
    alt: true,
    shift: true,
    keys: "Alt+Shift+S",
    text: "Open settings",
    group: "Page",
  },
  {
    action: "help",
    codes: [],
    signs: "?",
    ctrl: true,
    shift: true,
    keys: "Ctrl+Shift+/",
    text: "Show keyboard shortcuts (also ? outside a terminal)",
    group: "Page",
  },
];

export interface Pressed {
  code: string;
  key: string;
  ctrlKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

function isPressed(shortcut: Shortcut, event: Pressed, mac: boolean): boolean {
  const zoom = shortcut.action.startsWith("zoom");
  const command = mac && zoom ? event.metaKey : event.ctrlKey;
  const stray = mac && zoom ? event.ctrlKey : event.metaKey;
  // A plus needs Shift on many keyboards.
  const shifted = zoom || event.shiftKey === (shortcut.shift ?? false);
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
): Shortcut | undefined {
  if (event.key === "?" && !inTerminal && !typing && !event.ctrlKey && !event.altKey) {
    return SHORTCUTS.find((shortcut) => shortcut.action === "help");
  }
  if (isPaletteKey(event, mac, inTerminal)) {
    return SHORTCUTS.find((shortcut) => shortcut.action === "palette");
  }
  return SHORTCUTS.find((shortcut) => isKeyOf(shortcut, event) && isPressed(shortcut, event, mac));
}

/** The place 0-8 that a digit key names. */
export const digitOf = (code: string): number => DIGITS.indexOf(code);

export function groups(): [string, Shortcut[]][] {
  const names = [...new Set(SHORTCUTS.map((shortcut) => shortcut.group))];
  return names.map((name) => [name, SHORTCUTS.filter((shortcut) => shortcut.group === name)]);
}
