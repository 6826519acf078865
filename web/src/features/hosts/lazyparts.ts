/** Loads the parts for sessions on other hosts with the first such session. */
import { computed, effect, signal } from "@preact/signals";
import { sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";

export const parts = signal<typeof import("./parts.ts") | undefined>(undefined);

const anyElsewhere = computed(() => sessions.value.some(({ location }) => location !== "local"));

export function followHosts(): void {
  const end = effect(() => {
    if (!anyElsewhere.value) return;
    import("./parts.ts").then(
      (loaded) => {
        parts.value = loaded;
        loaded.follow();
      },
      (error: unknown) => showError("Couldn't load where sessions run", error),
    );
    // Once is enough for the page's life; the effect itself is not there yet while it runs first.
    queueMicrotask(() => end());
  });
}
