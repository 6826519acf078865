/** Which sessions are out of reach, as far as the page was told. */
import { computed, effect, signal } from "@preact/signals";
import { sessions } from "../store/state.ts";
import { showError } from "../ui/toasts.ts";

/** The way to a session's host is closed; what runs there runs on. */
export interface Unreachable {
  /** When it is tried next by itself, in the service's Unix milliseconds; absent: it is not. */
  nextAt?: number | undefined;
  /** Why the last attempt failed. */
  why?: string | undefined;
  wake?: "mac" | "command" | "none" | undefined;
  /** It is being woken. */
  waking?: boolean | undefined;
}

/** By session. */
export const unreachableSessions = signal<ReadonlyMap<string, Unreachable>>(new Map());

export const isUnreachable = (id: string): boolean => unreachableSessions.value.has(id);

/** Characters that the service keeps until a session's host is back, by session. */
export const queuedInput = signal<ReadonlyMap<string, number>>(new Map());

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
