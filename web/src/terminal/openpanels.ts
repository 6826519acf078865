/** What is open over the terminal in front. */
import { signal } from "@preact/signals";

export const searchOpen = signal(false);
export const historyOpen = signal<{ sessionId: string; query: string } | undefined>(undefined);
