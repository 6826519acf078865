/** Where the first page shows that a session is elsewhere; what stands there comes with the first such session. */
import type { Session } from "../api/types.ts";
import { parts } from "./state.ts";

export function PlaceMark({ session }: { session: Session }) {
  const Mark = parts.value?.Mark;
  return Mark && session.location !== "local" ? <Mark session={session} /> : null;
}

export function AwaySlot({ session }: { session: Session }) {
  const Notice = parts.value?.AwayNotice;
  return Notice && session.location === "remote" ? <Notice key={session.id} session={session} /> : null;
}
