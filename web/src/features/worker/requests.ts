/** The worker's own requests to the service; it can do what the page's key can, and does these two. */
import type { Answer, ApprovalItemResponse } from "../approvals/item.ts";
import { readAccess } from "./access.ts";
import { parseAnswer, parseNotificationData, type Notice, buildNotice } from "./answers.ts";

/** Longer than this a phone lets no worker live for a push (ms). */
const PATIENCE_MS = 8_000;

export type Fetch = typeof fetch;

export interface WorkerContext {
  scope: string;
  fetch: Fetch;
  /** The page's key; undefined where answers are switched off. */
  key: () => Promise<string | undefined>;
}

export const createWorkerContext = (scope: string): WorkerContext => ({
  scope,
  fetch: (...words) => fetch(...words),
  key: () => readAccess(scope),
});

async function call(by: WorkerContext, key: string, path: string, body?: unknown): Promise<Response> {
  const headers = { Accept: "application/json", "X-Service-Key": key };
  return by.fetch(new URL(path, by.scope), {
    method: body === undefined ? "GET" : "POST",
    credentials: "same-origin",
    redirect: "error",
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** What the session asks, as the service has it now; undefined: the short word of the push has to do. */
export async function readNotice(by: WorkerContext, sessionId: unknown): Promise<Notice | undefined> {
  try {
    const key = await by.key();
    if (key === undefined || typeof sessionId !== "string") return undefined;
    const response = await call(by, key, "api/approvals");
    const { data } = (await response.json()) as { data?: { approvals?: ApprovalItemResponse[] } };
    const item = data?.approvals?.find((each) => each.sessionId === sessionId);
    return item && buildNotice(item);
  } catch (error) {
    console.warn("what is asked could not be read", error);
    return undefined;
  }
}

export type Outcome = "none" | "taken" | "refused";

/** @returns none: it was no answer but a press on the notification itself. */
export async function sendAnswer(by: WorkerContext, action: string, data: unknown): Promise<Outcome> {
  const [chosen, kept, key]: [
    Answer | undefined,
    ReturnType<typeof parseNotificationData>,
    string | undefined,
  ] = [parseAnswer(action), parseNotificationData(data), await by.key()];
  if (chosen === undefined || kept === undefined || key === undefined) return "none";
  const path = `api/approvals/${encodeURIComponent(kept.approvalId)}/answer`;
  try {
    const response = await call(by, key, path, { ...chosen, expectFrame: kept.frame });
    return response.ok ? "taken" : "refused";
  } catch (error) {
    console.warn("the answer did not arrive", error);
    return "refused";
  }
}
