/** What became of a prompt that was sent (protocol-input). */
import { ApiError, getErrorText } from "../../api/errors.ts";

/** One attempt's name: the service types what it names at most once. */
export interface Ticket {
  clientId: string;
  seq: number;
  text: string;
}

export type Delivery =
  | { state: "sending" | "held" | "delivered" | "duplicate" | "buffered" }
  /** A dialog is open: refused, and nothing was typed; or kept here until that is answered. */
  | { state: "blocked" | "after" }
  /** `unknown`: it may have been typed; the same ticket again cannot type it twice. */
  | { state: "failed"; text: string; unknown: boolean };

/** Characters of an input, the Enter behind the text included (protocol-input). */
export const INPUT_MAX = 65_536;

/** Without an answer for so long (ms), the prompt waits for the agent's composer. */
export const HELD_AFTER_MS = 1_500;

export interface InputAnswer {
  delivered?: boolean;
  duplicate?: boolean;
  buffered?: boolean;
  /** There was no room to keep it. */
  dropped?: boolean;
}

export function readOutcome(answer: InputAnswer): Delivery {
  if (answer.dropped)
    return {
      state: "failed",
      text: "Not sent: the host is unreachable and its queue is full.",
      unknown: false,
    };
  if (answer.buffered) return { state: "buffered" };
  if (answer.duplicate) return { state: "duplicate" };
  if (answer.delivered) return { state: "delivered" };
  return {
    state: "failed",
    text: "No confirmation. You can resend safely; it won't be typed twice.",
    unknown: true,
  };
}

const REFUSED: Record<number, string> = {
  404: "Not sent: this session no longer exists.",
  409: "Not sent: no agent is running in this session.",
  413: "Not sent: the prompt is too long.",
};

/** The service refuses a prompt while a dialog is open; its text names the evidence, which is no help. */
const DIALOG_OPEN = /answer (?:that|it) first|answer to its first dialog/;

const describeRefusal = (status: number, error: unknown): string =>
  REFUSED[status] ?? `Not sent: ${getErrorText(error)}`;

/** A refusal (4xx) typed nothing; an answer that never came leaves it open. */
export function describeFailure(error: unknown): Delivery {
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 422 && DIALOG_OPEN.test(getErrorText(error))) return { state: "blocked" };
  if (status >= 400 && status < 500) {
    return { state: "failed", text: describeRefusal(status, error), unknown: false };
  }
  const text = "No confirmation. You can resend safely; it won't be typed twice.";
  return { state: "failed", text, unknown: true };
}

/** The ticket of an attempt whose end is not known is used again for the same text. */
export function reuseTicket(
  text: string,
  before: Ticket | undefined,
  next: () => Omit<Ticket, "text">,
): Ticket {
  return before?.text === text ? before : { ...next(), text };
}

export const isUnderWay = (delivery: Delivery | undefined): boolean =>
  delivery?.state === "sending" || delivery?.state === "held";

export const isAccepted = (delivery: Delivery): boolean =>
  delivery.state === "delivered" || delivery.state === "duplicate" || delivery.state === "buffered";

const WORDS: Record<Exclude<Delivery["state"], "failed">, string> = {
  sending: "Sending…",
  held: "Queued. Sends when the agent is ready.",
  blocked: "Waiting for your answer first.",
  after: "Sends after your answer.",
  delivered: "Delivered",
  duplicate: "Already delivered. It wasn't typed twice.",
  buffered: "Queued. Sends when the host is reachable.",
};

export const describeDelivery = (delivery: Delivery): string =>
  delivery.state === "failed" ? delivery.text : WORDS[delivery.state];
