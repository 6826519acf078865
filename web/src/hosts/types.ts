/** Records of the routes that wake a host and list what runs there (protocol-remote, protocol-wake). */

/** A tmux session on the default server of a host's user. */
export interface FarSession {
  name: string;
  /** Clients that show it. */
  attached: number | boolean;
  /** Unix milliseconds. */
  created?: number;
  windows?: number;
  cols?: number;
  rows?: number;
}

export interface Woken {
  woke: boolean;
  reachable: boolean | null;
  wakeConfigured: "mac" | "command" | "none";
}
