/** One dictation on the wire (protocol-voice). */
import { keyProtocols } from "../api/key.ts";
import { socketUrl } from "../api/paths.ts";

export interface Told {
  /** The whole so far. */
  text: (text: string, final: boolean) => void;
  /** Something is wrong; it may go on. */
  problem: (message: string) => void;
  /** It is over; called once. */
  over: () => void;
}

/** Bytes that wait to be sent, beyond which the connection is taken for too slow: half a minute. */
export const WAITING_MAX = 1_000_000;

const REASONS: Readonly<Record<string, string>> = {
  disabled: "Dictation is switched off",
  "no-credentials": "Nobody is signed in to Claude Code on the service's machine, and there is no key",
  expired: "The service's sign-in of Claude Code has expired: start Claude Code there once",
  malformed: "The service cannot read the sign-in of Claude Code",
};

export const reasonText = (reason: string): string => REASONS[reason] ?? reason;

/** @returns undefined where it ended as it should. */
export function closeText(code: number, reason: string): string | undefined {
  if (code === 1000) return undefined;
  if (code === 4003) return "The service does not take dictation from this page";
  if (code === 4004) return reasonText(reason === "" ? "There is no dictation" : reason);
  if (code === 4008) return "Others are dictating: try again in a moment";
  return "The connection was lost";
}

interface Frame {
  t?: unknown;
  text?: unknown;
  final?: unknown;
  message?: unknown;
}

/** What a frame tells; anything else tells nothing. */
export function hear(data: string, told: Told): void {
  const { t, text, final, message } = JSON.parse(data) as Frame;
  if (t === "transcript" && typeof text === "string") told.text(text, final === true);
  if (t === "error" && typeof message === "string") told.problem(message);
}

export interface Link {
  send: (pcm: Int16Array<ArrayBuffer>) => void;
  /** No more speech: the rest of the text is wanted. */
  finish: () => void;
  /** At once, and nothing more is wanted. */
  stop: () => void;
}

export function openLink(told: Told): Link {
  const socket = new WebSocket(socketUrl("ws/voice/stream", document.baseURI), keyProtocols());
  /** What is said before the connection is there. */
  let early: (ArrayBuffer | string)[] = [];
  let waiting = 0;
  const put = (data: ArrayBuffer | string) => {
    if (socket.readyState === WebSocket.OPEN) return socket.send(data);
    if (socket.readyState !== WebSocket.CONNECTING) return;
    early.push(data);
    waiting += typeof data === "string" ? 0 : data.byteLength;
  };
  const stop = () => {
    put('{"t":"stop"}');
    if (socket.readyState === WebSocket.CONNECTING) socket.close();
  };
  socket.onopen = () => {
    for (const data of early) socket.send(data);
    early = [];
    waiting = 0;
  };
  socket.onmessage = ({ data }: MessageEvent<string>) => hear(data, told);
  socket.onclose = ({ code, reason }) => {
    const problem = closeText(code, reason);
    if (problem !== undefined) told.problem(problem);
    told.over();
  };
  return {
    send: (pcm) => {
      if (socket.bufferedAmount + waiting <= WAITING_MAX) return put(pcm.buffer);
      told.problem("The connection is too slow for speech");
      socket.close();
    },
    finish: () => put('{"t":"finalize"}'),
    stop,
  };
}
