/** One dictation on the wire (protocol-voice). */
import { keyProtocols } from "../../api/key.ts";
import { socketUrl } from "../../api/paths.ts";

export interface DictationListener {
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
  disabled: "Dictation is off. Turn it on in the settings.",
  "no-credentials": "Sign in to Claude Code on the server, or enter a Deepgram key in the settings.",
  expired: "The server's Claude Code sign-in has expired. Start Claude Code on the server once.",
  malformed: "The server can't read its Claude Code sign-in.",
};

export const reasonText = (reason: string): string => REASONS[reason] ?? reason;

/** @returns undefined where it ended as it should. */
export function closeText(code: number, reason: string): string | undefined {
  if (code === 1000) return undefined;
  if (code === 4003) return "The server does not accept dictation from this page.";
  if (code === 4004) return reasonText(reason === "" ? "Dictation is not available." : reason);
  if (code === 4008) return "Others are dictating. Try again in a moment.";
  return "Connection lost.";
}

interface Frame {
  t?: unknown;
  text?: unknown;
  final?: unknown;
  message?: unknown;
}

/** What a frame tells; anything else tells nothing. */
export function handleFrame(data: string, told: DictationListener): void {
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

export function openLink(told: DictationListener): Link {
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
  socket.onmessage = ({ data }: MessageEvent<string>) => handleFrame(data, told);
  socket.onclose = ({ code, reason }) => {
    const problem = closeText(code, reason);
    if (problem !== undefined) told.problem(problem);
    told.over();
  };
  return {
    send: (pcm) => {
      if (socket.bufferedAmount + waiting <= WAITING_MAX) return put(pcm.buffer);
      told.problem("Your connection is too slow for dictation.");
      socket.close();
    },
    finish: () => put('{"t":"finalize"}'),
    stop,
  };
}
