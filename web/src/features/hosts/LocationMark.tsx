/** Where a session lives, beside its name: nothing for one of the service's own machine. */
import type { Session } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import "./mark.css";
import { describeLocation } from "./location.ts";
import { isUnreachable } from "./state.ts";

export function LocationMark({ session }: { session: Session }) {
  const place = describeLocation(session);
  if (!place) return null;
  const gone = isUnreachable(session.id);
  const hint = gone ? `${place.hint}, unreachable` : place.hint;
  return (
    <span
      class="location-mark"
      data-tip={hint}
      data-away={gone}
      data-kind={place.kind}
      data-testid="place-mark"
    >
      <Icon name={place.kind === "remote" ? "server" : "box"} size={13} />
      <span class="location-mark-name" aria-hidden="true">
        {place.name}
      </span>
      <span class="sr-only">{hint}</span>
    </span>
  );
}
