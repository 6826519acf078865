/** Where a session lives, in words. */
import type { Session } from "../api/types.ts";

export interface Elsewhere {
  kind: "remote" | "container";
  /** Short enough for a tab. */
  name: string;
  /** The whole of it. */
  hint: string;
}

/** @returns undefined for a session of the service's own machine. */
export function placeOf({ remote, container }: Session): Elsewhere | undefined {
  if (remote) {
    const what = remote.owned ? "on the SSH host" : "a tmux session that was attached on the SSH host";
    return { kind: "remote", name: remote.hostId, hint: `${what} ${remote.hostId}` };
  }
  if (container) return { kind: "container", name: "container", hint: `in the container ${container.name}` };
  return undefined;
}
