/** The page beside the terminal, where the window has room for both; kept by this browser. */
import { computed, effect, signal } from "@preact/signals";
import { readStored, writeStored } from "../../lib/stored.ts";
import { wide } from "../width.ts";
import { findPage, openPage } from "./registry.ts";
import { staged } from "./stage.ts";

/** CSS pixels. */
export const WIDTH_LEAST = 340;
export const WIDTH_MOST = 1600;
export const WIDTH_USUAL = 460;
const KEY = "tservice.panel";

export interface Panel {
  /** Of the page beside, empty without one. */
  page: string;
  /** Of the page that was there last. */
  last: string;
  width: number;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const clampWidth = (width: number): number => Math.max(WIDTH_LEAST, Math.min(WIDTH_MOST, Math.round(width)));

/** What is stored may be of an older page or edited. */
export function parsePanel(stored: string | null): Panel {
  let value: Partial<Record<keyof Panel, unknown>> = {};
  try {
    value = Object(JSON.parse(stored ?? "{}")) as typeof value;
  } catch {
    value = {};
  }
  const width = Number.isFinite(value.width) ? clampWidth(Number(value.width)) : WIDTH_USUAL;
  return { page: text(value.page), last: text(value.last), width };
}

export const panelState = signal<Panel>(parsePanel(null));

/** The page that is shown beside the terminal. */
export const besidePage = computed(() => {
  const page = wide.value ? findPage(panelState.value.page) : undefined;
  return page?.beside ? page : undefined;
});

/** Counts what people open there: its heading then takes the focus, and not after a reload. */
export const panelOpenCount = signal(0);

export function updatePanel(part: Partial<Panel>): void {
  panelState.value = { ...panelState.peek(), ...part };
}

export const closePanel = () => updatePanel({ page: "" });

export function togglePanel(usual: string): void {
  if (besidePage.value && !staged.value) return closePanel();
  openPage.value = panelState.value.last || usual;
}

/** Whoever opens a page need not know where it is shown. */
function takeOver(): void {
  const page = findPage(openPage.value);
  if (!wide.value || !page?.beside) return;
  if (besidePage.peek() !== page) panelOpenCount.value = panelOpenCount.peek() + 1;
  updatePanel({ page: page.id, last: page.id });
  openPage.value = undefined;
}

export function startPanel(): void {
  panelState.value = parsePanel(readStored(KEY));
  effect(takeOver);
  effect(() => writeStored(KEY, JSON.stringify(panelState.value)));
}
