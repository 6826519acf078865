/** Where a session lives, beside its name: nothing for one of the service's own machine. */
import type { Session } from "../api/types.ts";
import { Icon } from "../ui/Icon.tsx";
import "./mark.css";
import { placeOf } from "./place.ts";
import { isAway } from "./state.ts";

export function Mark({ session }: { session: Session }) {
  const place = placeOf(session);
  if (!place) return null;
  const gone = isAway(session.id);
  const hint = gone ? `${place.hint}, which is out of reach` : place.hint;
  return (
    <span class="far-mark" data-tip={hint} data-away={gone} data-kind={place.kind} data-testid="place-mark">
      <Icon name={place.kind === "remote" ? "server" : "box"} size={13} />
      <span class="far-mark-name" aria-hidden="true">
        {place.name}
      </span>
      <span class="sr-only">{hint}</span>
    </span>
  );
}
