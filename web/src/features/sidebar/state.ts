/** Whether sessions stand in a list at the side or in a row of tabs. */
import { computed } from "@preact/signals";
import { change, prefs } from "../../store/prefs.ts";
import { sessions } from "../../store/state.ts";
import { wide } from "../../ui/width.ts";

/** So many tabs can still be read side by side. */
const TABS_READ = 5;

export const sidebarShown = computed(() => {
  if (!wide.value || prefs.value.sessionList === "tabs") return false;
  return prefs.value.sessionList === "sidebar" || sessions.value.length > TABS_READ;
});

export function toggleSidebar(): void {
  change({ sessionList: sidebarShown.value ? "tabs" : "sidebar" });
}
