/** The routes of suggestions and of intents (protocol-suggestions, protocol-intent). */
import { request } from "../../api/client.ts";
import { sessionPath } from "../../api/paths.ts";
import type { IntentDeletedResponse, IntentEnvelope, SuggestionsResponse } from "../../api/types.ts";

export const suggest = (
  id: string,
  body: { steer?: string; rejected?: readonly string[] },
  signal: AbortSignal,
) =>
  request<SuggestionsResponse>("POST", sessionPath(id, "/readmymind"), {
    body,
    signal,
  });

export const readIntent = (id: string, signal: AbortSignal) =>
  request<IntentEnvelope>("GET", sessionPath(id, "/intent"), { signal });

/** What was remembered of prompts goes. */
export const writeGoals = (id: string, goals: string) =>
  request<IntentEnvelope>("PUT", sessionPath(id, "/intent"), { body: { goals } });

export const deleteIntent = (id: string) =>
  request<IntentDeletedResponse>("DELETE", sessionPath(id, "/intent"));
