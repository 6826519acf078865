/** The place of the offer to restore sessions; its code comes with the first. */
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { openPage, RESTORE_PAGE } from "../../ui/pages/registry.ts";
import { offer, progress } from "./state.ts";

const RestoreBanner = lazySlot(async () => (await import("./RestoreBanner.tsx")).RestoreBanner, {
  failed: (error) => showError("Couldn't show the sessions to restore", error),
});

export function RestoreHost() {
  const some = progress.value !== undefined || (offer.value?.sessions.length ?? 0) > 0;
  return some && openPage.value !== RESTORE_PAGE ? <RestoreBanner /> : null;
}
