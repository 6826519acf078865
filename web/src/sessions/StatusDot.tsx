import type { Session } from "../api/types.ts";
import { sessionList } from "../store/state.ts";
import { lookOf, wordOf } from "./status.ts";

/** The state as a coloured mark whose shape differs too, with its word for screen readers. */
export function StatusDot({ session }: { session: Session }) {
  const look = lookOf(session, sessionList.value.attention.has(session.id));
  const word = wordOf(look);
  const why = session.statusReason ? `${word}: ${session.statusReason}` : word;
  return (
    <span class="dot" data-look={look} data-testid="status" title={why}>
      <span class="sr-only">{word}</span>
    </span>
  );
}
