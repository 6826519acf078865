/** What the end of a terminal connection means (protocol-websocket). */

export type Ending = "retry" | "retry-clean" | "forbidden" | "gone" | "crowded" | "ended" | "replaced";

const ENDINGS: Record<number, Ending> = {
  // The service could not read a frame of ours: the same frame again would end the same way.
  1003: "retry-clean",
  1009: "retry-clean",
  4003: "forbidden",
  4004: "gone",
  4008: "crowded",
  4009: "ended",
  4010: "replaced",
};

/** Every other code (1001 restart, 1006 lost, 1011 failure) is a connection to be made again. */
export function endingOf(code: number): Ending {
  return ENDINGS[code] ?? "retry";
}

export interface Notice {
  title: string;
  text: string;
  /** The button that makes the connection again; absent where that is no use. */
  action?: string;
}

export const NOTICES: Record<Exclude<Ending, "retry" | "retry-clean">, Notice> = {
  forbidden: { title: "No access", text: "Your account has no access to this session." },
  gone: { title: "Session not found", text: "It was closed or never existed." },
  crowded: {
    title: "Too many viewers",
    text: "Five windows already show this session. Close one, then try again.",
    action: "Try again",
  },
  ended: { title: "Session closed", text: "It was closed here or in another window." },
  replaced: {
    title: "Open in another window",
    text: "Another copy of this page took over the session.",
    action: "Take over here",
  },
};
