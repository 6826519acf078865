import type { Session } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import "./marks.css";

const format = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" });

export const describeSnooze = (until: number | undefined): string =>
  `Notifications muted until ${until === undefined ? "it asks" : format.format(until)}`;

/** What a row says about a session's notices: that its agent hangs, and that they pause. */
export function NoticeMarks({ session }: { session: Session }) {
  return (
    <>
      <StallMark session={session} />
      <SnoozeMark session={session} />
    </>
  );
}

function StallMark({ session: { stall } }: { session: Session }) {
  if (stall === undefined) return null;
  const text = `Seems to hang since ${format.format(stall.since)}. ${stall.detail}`;
  return (
    <span class="stall-mark" role="img" aria-label={text} title={text} data-testid="stall-mark">
      <Icon name="alert" size={12} />
    </span>
  );
}

function SnoozeMark({ session }: { session: Session }) {
  if (session.snooze === undefined) return null;
  const text = describeSnooze(session.snooze.until);
  return (
    <span role="img" aria-label={text} title={text} data-testid="snooze-mark">
      <Icon name="muted" size={12} />
    </span>
  );
}
