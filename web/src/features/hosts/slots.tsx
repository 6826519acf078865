/** What shows and hears of sessions elsewhere; its code comes with the first such session. */
import { computed, effect } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { lazySlot } from "../../ui/lazySlot.tsx";

const failed = (error: unknown) => showError("Couldn't load where sessions run", error);

const loadParts = () => import("./parts.tsx");

const LocationMark = lazySlot(async () => (await loadParts()).LocationMark, {});
const UnreachableNotice = lazySlot(async () => (await loadParts()).UnreachableNotice, {});

export function LocationMarkSlot({ session }: { session: Session }) {
  return session.location === "local" ? null : <LocationMark session={session} />;
}

export function UnreachableNoticeSlot({ session }: { session: Session }) {
  return session.location === "remote" ? <UnreachableNotice key={session.id} session={session} /> : null;
}

const anyElsewhere = computed(() => sessions.value.some(({ location }) => location !== "local"));

/** Says too why the code for the slots did not come. */
export function followHosts(): void {
  const end = effect(() => {
    if (!anyElsewhere.value) return;
    loadParts().then(({ follow }) => follow(), failed);
    // Once is enough for the page's life; the effect itself is not there yet while it runs first.
    queueMicrotask(() => end());
  });
}
