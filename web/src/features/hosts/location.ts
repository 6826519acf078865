/** Where a session lives, in words. */
import type { Session } from "../../api/types.ts";

export interface SessionLocation {
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
