/** What became of a prompt that was sent (protocol-input). */
import { ApiError, textOf } from "../api/errors.ts";

/** One attempt's name: the service types what it names at most once. */
export interface Ticket {
  clientId: string;
  seq: number;
  text: string;
}

export type Delivery =
  | { state: "sending" | "held" | "delivered" | "duplicate" | "buffered" }
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

export function outcomeOf(answer: InputAnswer): Delivery {
  if (answer.dropped)
    return {
      state: "failed",
      text: "Not sent: the host is away, and no more is kept for it until it is back.",
      unknown: false,
    };
  if (answer.buffered) return { state: "buffered" };
  if (answer.duplicate) return { state: "duplicate" };
  if (answer.delivered) return { state: "delivered" };
  return { state: "failed", text: "The service did not say what became of it.", unknown: true };
}

const REFUSED: Record<number, string> = {
  404: "Not sent: the session is gone.",
  409: "Not sent: no agent runs in this session.",
  413: "Not sent: the text is too long.",
};

/** A refusal (4xx) typed nothing; an answer that never came leaves it open. */
export function failureOf(error: unknown): Delivery {
  const status = error instanceof ApiError ? error.status : 0;
  if (status >= 400 && status < 500) {
    return { state: "failed", text: REFUSED[status] ?? `Not sent: ${textOf(error)}`, unknown: false };
  }
  const text = "No answer came: it may have arrived. Sending it again types it once at most.";
  return { state: "failed", text, unknown: true };
}

/** The ticket of an attempt whose end is not known is used again for the same text. */
export function ticketFor(
  text: string,
  before: Ticket | undefined,
  next: () => Omit<Ticket, "text">,
): Ticket {
  return before?.text === text ? before : { ...next(), text };
}

export const isUnderWay = (delivery: Delivery | undefined): boolean =>
  delivery?.state === "sending" || delivery?.state === "held";

export const isGone = (delivery: Delivery): boolean =>
  delivery.state === "delivered" || delivery.state === "duplicate" || delivery.state === "buffered";

const WORDS: Record<Exclude<Delivery["state"], "failed">, string> = {
  sending: "Sending…",
  held: "Held until the agent's composer is ready. It is typed then.",
  delivered: "Delivered",
  duplicate: "Delivered already: it was not typed twice.",
  buffered: "The host is away: it is kept, and typed when the host is back.",
};

export const deliveryText = (delivery: Delivery): string =>
  delivery.state === "failed" ? delivery.text : WORDS[delivery.state];
