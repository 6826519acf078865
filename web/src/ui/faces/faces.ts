/**
 * The faces that come with the page, under the SIL Open Font License (`fonts-licenses.txt` beside it).
 *
 * Neither is part of a first visit: the page's face is fetched by the second one, once nothing else is to
 * be done, and from then on comes from the browser's cache with the start; a terminal's when it is chosen.
 */
import { effect, signal } from "@preact/signals";
import { prefs } from "../../store/prefs.ts";
import { readStored, writeStored } from "../../lib/stored.ts";

const VISITED = "tservice.face";
/** Where a browser does not tell when it has nothing else to do (ms). */
const LATER_MS = 4_000;

export type Visit = "first" | "second" | "later";

/** @param kept what the last visit left. */
export const visitOf = (kept: string | null): Visit =>
  kept === null ? "first" : kept === "here" ? "later" : "second";

const saves = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

async function showFace(): Promise<void> {
  await import("./inter.css");
  await document.fonts.load('15px "Inter"');
  writeStored(VISITED, "here");
}

const report = (error: unknown): void => console.info("the page's face is not there", error);

function whenIdle(act: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(act);
  else setTimeout(act, LATER_MS);
}

function startPageFace(): void {
  const visit = visitOf(readStored(VISITED));
  if (visit === "first") writeStored(VISITED, "seen");
  else if (visit === "later") showFace().catch(report);
  else if (!saves()) whenIdle(() => void showFace().catch(report));
}

export const SHIPPED_MONO = "JetBrains Mono";

/** A letter of each part: one that came later would stand in cells that were measured without it. */
const PARTS = "aπ→";

/** The family that terminals are drawn with: a shipped one only when it is there, or cells are measured wrong. */
export const monoFamily = signal("");

async function followMono(family: string): Promise<void> {
  if (family === SHIPPED_MONO) {
    await import("./jetbrainsmono.css");
    await document.fonts.load(`15px "${family}"`, PARTS);
  }
  if (prefs.peek().fontFamily === family) monoFamily.value = family;
}

export function startFaces(): void {
  startPageFace();
  effect(() => {
    const family = prefs.value.fontFamily;
    followMono(family).catch(report);
  });
}
