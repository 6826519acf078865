/** Whether the list of sessions is open at the side, for whoever opens it. */
import { signal } from "@preact/signals";

export const drawerOpen = signal(false);
