/** Where a session lives, beside its name: nothing for one of the service's own machine. */
import type { Session } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import { isUnreachable } from "./state.ts";
import "./mark.css";

interface SessionLocation {
  kind: "remote" | "container";
  /** Short enough for a tab. */
  name: string;
  /** The whole of it. */
  hint: string;
}

/** @returns undefined for a session of the service's own machine. */
export function describeLocation({ remote, container }: Session): SessionLocation | undefined {
  if (remote) {
    const what = remote.owned ? "on the remote host" : "a tmux session on the remote host";
    return { kind: "remote", name: remote.hostId, hint: `${what} ${remote.hostId}` };
  }
  if (container) return { kind: "container", name: "container", hint: `in container ${container.name}` };
  return undefined;
}

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
