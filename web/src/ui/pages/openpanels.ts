/** What is open over the terminal in front, or in its place. */
import { signal } from "@preact/signals";

export const searchOpen = signal(false);
export const historyOpen = signal<{ sessionId: string; query: string } | undefined>(undefined);
export const newSessionOpen = signal(false);
export const paletteOpen = signal(false);
/** The list of sessions from the side. */
export const drawerOpen = signal(false);
