import type { Session } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";

const format = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" });

export const describeSnooze = (until: number | undefined): string =>
  `Notifications muted until ${until === undefined ? "it asks" : format.format(until)}`;

/** A pause of notices, on the session's row. */
export function SnoozeMark({ session }: { session: Session }) {
  if (session.snooze === undefined) return null;
  const text = describeSnooze(session.snooze.until);
  return (
    <span role="img" aria-label={text} title={text} data-testid="snooze-mark">
      <Icon name="muted" size={12} />
    </span>
  );
}
