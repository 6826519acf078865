/** The palettes of this browser: the page's own ones, and those that somebody imported. */
import { computed, signal } from "@preact/signals";
import { change, prefs } from "../../../store/prefs.ts";
import { readStored, writeStored } from "../../../lib/stored.ts";
import { type Palette, paletteOf } from "./palette.ts";

/** One more takes the place of the oldest. */
export const KEPT_MOST = 12;
const KEY = "tservice.palettes";

const CONTRAST: Palette = {
  id: "contrast",
  name: "High contrast",
  background: "#000000",
  foreground: "#ffffff",
  cursor: "#ffe14d",
  selection: "#1f6feb",
  ansi: [
    "#3a3a3a",
    "#ff8a85",
    "#5cf08a",
    "#ffd75e",
    "#86bbff",
    "#e2b0ff",
    "#62eaf2",
    "#e8e8e8",
    "#9a9a9a",
    "#ffb0ac",
    "#a0ffbe",
    "#ffe9a0",
    "#b9d8ff",
    "#f0d6ff",
    "#b0f8fc",
    "#ffffff",
  ],
};

export const BUILT_IN: readonly Palette[] = [CONTRAST];

export function readPalettes(text: string | null): readonly Palette[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(value)) return [];
    return value.flatMap((each) => paletteOf(each) ?? []).slice(-KEPT_MOST);
  } catch {
    return [];
  }
}

export const imported = signal(readPalettes(readStored(KEY)));

// Another window of this browser imported one.
globalThis.addEventListener?.("storage", (event) => {
  if (event.key === KEY) imported.value = readPalettes(event.newValue);
});

export const palettes = computed<readonly Palette[]>(() => [...BUILT_IN, ...imported.value]);

/** The chosen one; undefined where the terminal goes with the page. */
export const chosenPalette = computed<Palette | undefined>(() =>
  palettes.value.find((each) => each.id === prefs.value.terminalTheme),
);

function keep(next: readonly Palette[]): void {
  imported.value = next.slice(-KEPT_MOST);
  writeStored(KEY, JSON.stringify(imported.value));
}

/** One of the same name takes its place. */
export function addPalette(palette: Palette): void {
  keep([...imported.peek().filter((each) => each.id !== palette.id), palette]);
  change({ terminalTheme: palette.id });
}

export function removePalette(id: string): void {
  keep(imported.peek().filter((each) => each.id !== id));
  change({ terminalTheme: "page" });
}
