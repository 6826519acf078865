/** What is open over the terminal in front, or in its place. */
import { signal } from "@preact/signals";

export const searchOpen = signal(false);
export const historyOpen = signal<{ sessionId: string; query: string } | undefined>(undefined);
export const newSessionOpen = signal(false);
