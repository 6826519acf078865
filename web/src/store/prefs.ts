/** Choices of this browser, kept in its local storage. */
import { effect, signal } from "@preact/signals";
import { followMedia } from "../lib/media.ts";
import { readStored, writeStored } from "../lib/stored.ts";

export type ThemeChoice = "system" | "dark" | "light";

/** `auto`: at the side once there are more sessions than tabs can be read. */
export type SessionList = "auto" | "sidebar" | "tabs";

/** What an address without a session or a page leads to; `auto`: the fleet, once there are many sessions. */
export type Home = "auto" | "fleet" | "session";

export interface Prefs {
  theme: ThemeChoice;
  sessionList: SessionList;
  /** CSS pixels. */
  sidebarWidth: number;
  home: Home;
  fontSize: number;
  /** A family that stands before those that every system has; "" is none. */
  fontFamily: string;
  /** Height of a row, in percent of the text's size. */
  lineHeight: number;
  /** `page` goes with the page's own theme; else the id of a palette (terminal/theme). */
  terminalTheme: string;
  scrollback: number;
  cursorBlink: boolean;
  copyOnSelect: boolean;
  /** Programs may set the clipboard (OSC 52): off, any program could then plant a command. */
  programCopy: boolean;
  optionIsMeta: boolean;
  screenReader: boolean;
  /** A field below an agent's terminal, to write a whole prompt in. */
  promptBox: boolean;
  enterSends: boolean;
  /** Typed characters show before the program has drawn them, where its answers take long. */
  localEcho: boolean;
}

export const DEFAULTS: Prefs = {
  theme: "system",
  sessionList: "auto",
  sidebarWidth: 272,
  home: "auto",
  fontSize: 14,
  fontFamily: "",
  lineHeight: 115,
  terminalTheme: "page",
  scrollback: 10_000,
  cursorBlink: true,
  copyOnSelect: false,
  programCopy: false,
  optionIsMeta: false,
  screenReader: false,
  promptBox: true,
  enterSends: true,
  localEcho: true,
};

/** On a phone a line of a program should hold more than forty characters. */
export const defaultsFor = (coarsePointer: boolean): Prefs => ({
  ...DEFAULTS,
  fontSize: coarsePointer ? 12 : DEFAULTS.fontSize,
  // Its keyboard has no Shift+Enter for a second line, and the button is beside it.
  enterSends: !coarsePointer,
});

export const FONT_LEAST = 8;
export const FONT_MOST = 32;
export const LINE_LEAST = 100;
export const LINE_MOST = 200;
export const SIDEBAR_LEAST = 180;
export const SIDEBAR_MOST = 560;
export const SCROLLBACK_LEAST = 500;
export const SCROLLBACK_MOST = 100_000;

const within = (value: unknown, least: number, most: number, otherwise: number): number =>
  typeof value === "number" && Number.isFinite(value)
    ? Math.max(least, Math.min(most, Math.round(value)))
    : otherwise;

function flag(value: unknown, otherwise: boolean): boolean {
  return typeof value === "boolean" ? value : otherwise;
}

function themeOf(value: unknown): ThemeChoice {
  return value === "dark" || value === "light" ? value : "system";
}

function listOf(value: unknown): SessionList {
  return value === "sidebar" || value === "tabs" ? value : "auto";
}

function homeOf(value: unknown): Home {
  return value === "fleet" || value === "session" ? value : "auto";
}

/** A family's bare name: it is put into a list of families in quotes. */
const FAMILY = /^[\p{L}\p{N} _-]{1,60}$/u;

export const isFamily = (text: string): boolean => text === "" || FAMILY.test(text);

const familyOf = (value: unknown): string => (typeof value === "string" && isFamily(value) ? value : "");

const paletteId = (value: unknown): string =>
  typeof value === "string" && /^[a-z0-9-]{1,40}$/.test(value) ? value : "page";

/** Stored values may be of an older page or edited: each is checked, the rest are defaults. */
export function parsePrefs(text: string | null, defaults = DEFAULTS): Prefs {
  let stored: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    if (typeof value === "object" && value !== null) stored = value as Record<string, unknown>;
  } catch {
    stored = {};
  }
  return {
    theme: themeOf(stored["theme"]),
    sessionList: listOf(stored["sessionList"]),
    sidebarWidth: within(stored["sidebarWidth"], SIDEBAR_LEAST, SIDEBAR_MOST, defaults.sidebarWidth),
    home: homeOf(stored["home"]),
    fontSize: within(stored["fontSize"], FONT_LEAST, FONT_MOST, defaults.fontSize),
    fontFamily: familyOf(stored["fontFamily"]),
    lineHeight: within(stored["lineHeight"], LINE_LEAST, LINE_MOST, defaults.lineHeight),
    terminalTheme: paletteId(stored["terminalTheme"]),
    scrollback: within(stored["scrollback"], SCROLLBACK_LEAST, SCROLLBACK_MOST, defaults.scrollback),
    cursorBlink: flag(stored["cursorBlink"], defaults.cursorBlink),
    copyOnSelect: flag(stored["copyOnSelect"], defaults.copyOnSelect),
    programCopy: flag(stored["programCopy"], defaults.programCopy),
    optionIsMeta: flag(stored["optionIsMeta"], defaults.optionIsMeta),
    screenReader: flag(stored["screenReader"], defaults.screenReader),
    promptBox: flag(stored["promptBox"], defaults.promptBox),
    enterSends: flag(stored["enterSends"], defaults.enterSends),
    localEcho: flag(stored["localEcho"], defaults.localEcho),
  };
}

const KEY = "tservice.prefs";

/** What this device has without a choice. */
let usual = DEFAULTS;

export const prefs = signal<Prefs>(usual);

export function change(part: Partial<Prefs>): void {
  prefs.value = { ...prefs.value, ...part };
}

export function zoomFont(step: number): void {
  const fontSize = step === 0 ? usual.fontSize : prefs.value.fontSize + step;
  change({ fontSize: within(fontSize, FONT_LEAST, FONT_MOST, DEFAULTS.fontSize) });
}

export const darkSystem = signal(false);

export const isDark = (choice: ThemeChoice, system: boolean): boolean =>
  choice === "system" ? system : choice === "dark";

const CHROME_COLOUR = { dark: "#0d1014", light: "#eef1f4" };

function showTheme(): void {
  const shade = isDark(prefs.value.theme, darkSystem.value) ? "dark" : "light";
  document.documentElement.dataset["theme"] = shade;
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", CHROME_COLOUR[shade]);
}

/** Read the stored choices, follow the system's theme, keep what changes. */
export function startPrefs(): void {
  usual = defaultsFor(matchMedia("(pointer: coarse)").matches);
  prefs.value = parsePrefs(readStored(KEY), usual);
  followMedia("(prefers-color-scheme: dark)", darkSystem);
  addEventListener("storage", (event) => {
    if (event.key === KEY) prefs.value = parsePrefs(event.newValue, usual);
  });
  effect(showTheme);
  effect(() => writeStored(KEY, JSON.stringify(prefs.value)));
}
