/** One answer in, its payload or an ApiError out (protocol-envelope). */
import { ApiError, createStatusError } from "./errors.ts";
import type { ErrorCode } from "./types.ts";

export interface Answer {
  status: number;
  json: boolean;
  text: string;
  retryAfter?: number | undefined;
}

interface Envelope {
  success?: unknown;
  data?: unknown;
  error?: unknown;
  errorCode?: unknown;
}

function parse(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The status is looked at before the body: 401 and 429 of the gate are bare text. */
export function unwrap(answer: Answer): unknown {
  const envelope = answer.json ? parse(answer.text) : undefined;
  const ok = answer.status >= 200 && answer.status < 300;
  if (envelope === undefined) {
    if (ok) throw new ApiError(answer.status, "", "Unexpected reply from the server.");
    throw createStatusError(answer.status, answer.text, answer.retryAfter);
  }
  if (ok && envelope.success === true) return envelope.data;
  const message = typeof envelope.error === "string" ? envelope.error : "The request failed.";
  const code = typeof envelope.errorCode === "string" ? (envelope.errorCode as ErrorCode) : "";
  throw new ApiError(answer.status, code, message, answer.retryAfter);
}
