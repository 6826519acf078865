/** Tells the service which session a person looks at: its notices wait, and what it did is seen. */
import { computed, effect } from "@preact/signals";
import { api } from "../../api/client.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import { activeId } from "../../store/state.ts";
import { staged } from "../../ui/pages/stage.ts";

/** The service forgets a report after 25 s. */
const REPEAT_MS = 10_000;

/** Somebody who has not touched this page for so long may have left (ms). */
export const IDLE_MS = 120_000;

/** The session in front, unless a page such as the fleet stands in its place. */
const inFront = computed(() => (staged.value === undefined ? activeId.value : undefined));

/** @returns the session that is looked at; undefined: none. */
export function lookedAt(
  active: string | undefined,
  page: { visible: boolean; focused: boolean; touchedAt: number; now: number },
): string | undefined {
  const there = page.visible && page.focused && page.now - page.touchedAt < IDLE_MS;
  return there ? active : undefined;
}

const device = crypto.randomUUID();

let touchedAt = Date.now();
let told: string | undefined;

async function send(id: string, looking: boolean): Promise<void> {
  try {
    await api.post("/api/sessions/{id}/look", { path: { id }, body: { device, looking } });
  } catch (error) {
    // A notice too many is the worst that comes of it.
    console.warn("the look was not reported", error);
  }
}

function report(): void {
  const page = {
    visible: document.visibilityState === "visible",
    focused: document.hasFocus(),
    touchedAt,
    now: Date.now(),
  };
  const id = lookedAt(inFront.peek(), page);
  if (id !== undefined) void send(id, true);
  else if (told !== undefined) void send(told, false);
  told = id;
}

const touched = (): void => {
  const away = Date.now() - touchedAt >= IDLE_MS;
  touchedAt = Date.now();
  if (away) report();
};

/** For as long as the page lives. */
export function startLooking(): void {
  for (const name of ["pointerdown", "pointermove", "keydown", "wheel"] as const)
    document.addEventListener(name, touched, { passive: true, capture: true });
  document.addEventListener("visibilitychange", report);
  window.addEventListener("focus", report);
  window.addEventListener("blur", report);
  setInterval(report, REPEAT_MS);
  effect(() => {
    void inFront.value;
    if (hasReceivedInit.value) report();
  });
}
