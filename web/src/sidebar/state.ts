/** Whether sessions stand in a list at the side or in a row of tabs. */
import { computed, signal } from "@preact/signals";
import { change, prefs } from "../settings/prefs.ts";
import { sessions } from "../store/state.ts";

/** Beside anything narrower a terminal would have too few columns (CSS pixels). */
export const LEAST_WIDTH = 1100;
/** So many tabs can still be read side by side. */
const TABS_READ = 5;

/** Whether there is room beside a terminal. */
export const wide = signal(false);

export const sidebarShown = computed(() => {
  if (!wide.value || prefs.value.sessionList === "tabs") return false;
  return prefs.value.sessionList === "sidebar" || sessions.value.length > TABS_READ;
});

export function toggleSidebar(): void {
  change({ sessionList: sidebarShown.value ? "tabs" : "sidebar" });
}

export function followWidth(): void {
  const query = matchMedia(`(min-width: ${LEAST_WIDTH}px)`);
  wide.value = query.matches;
  query.addEventListener("change", (event) => (wide.value = event.matches));
}
