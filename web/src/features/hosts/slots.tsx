/** Where the first page shows that a session is elsewhere; what stands there comes with the first such session. */
import type { Session } from "../../api/types.ts";
import { parts } from "./lazyparts.ts";

export function LocationMarkSlot({ session }: { session: Session }) {
  const LocationMark = parts.value?.LocationMark;
  return LocationMark && session.location !== "local" ? <LocationMark session={session} /> : null;
}

export function UnreachableNoticeSlot({ session }: { session: Session }) {
  const Notice = parts.value?.UnreachableNotice;
  return Notice && session.location === "remote" ? <Notice key={session.id} session={session} /> : null;
}
