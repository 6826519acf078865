/** The browser's own dictation, for the provider `browser`. */
import type { Link, DictationListener } from "./link.ts";

interface Result {
  readonly isFinal: boolean;
  readonly [index: number]: { readonly transcript: string };
}

interface Recognition {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  onresult: ((event: { results: ArrayLike<Result> }) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start: () => void;
  stop: () => void;
  abort: () => void;
}

type Maker = new () => Recognition;

const maker = (): Maker | undefined => {
  const names = window as { SpeechRecognition?: Maker; webkitSpeechRecognition?: Maker };
  return names.SpeechRecognition ?? names.webkitSpeechRecognition;
};

export const hasSpeech = (): boolean => maker() !== undefined;

const ERRORS: Readonly<Record<string, string>> = {
  "not-allowed": "Your browser blocks the microphone for this page.",
  "audio-capture": "No microphone found.",
  network: "Can't reach the browser's speech service.",
  "language-not-supported": "Your browser does not support this language.",
};

/** All that was said, as one text. */
export const wholeOf = (results: ArrayLike<Result>): string =>
  Array.from(results, (result) => result[0]?.transcript.trim() ?? "")
    .filter((text) => text !== "")
    .join(" ");

/** Speech stays the browser's own affair: nothing is ever handed to `send`. */
export function openSpeech(language: string, told: DictationListener): Link {
  const Made = maker();
  if (!Made) throw new Error("this browser has no dictation of its own");
  const recognition = new Made();
  recognition.lang = language;
  recognition.continuous = true;
  recognition.interimResults = true;
  recognition.onresult = ({ results }) =>
    told.text(
      wholeOf(results),
      Array.from(results).every((result) => result.isFinal),
    );
  recognition.onerror = ({ error }) => {
    if (error !== "no-speech" && error !== "aborted") told.problem(ERRORS[error] ?? `Dictation: ${error}`);
  };
  recognition.onend = () => told.over();
  recognition.start();
  return { send: () => {}, finish: () => recognition.stop(), stop: () => recognition.abort() };
}
