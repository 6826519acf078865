/** The routes of suggestions and of intents (protocol-suggestions, protocol-intent). */
import { request } from "../api/client.ts";
import { sessionPath } from "../api/paths.ts";
import type { Forgotten, OneIntent, Suggestions } from "../api/types.ts";

export const suggest = (
  id: string,
  body: { steer?: string; rejected?: readonly string[] },
  signal: AbortSignal,
) =>
  request<Suggestions>("POST", sessionPath(id, "/readmymind"), {
    body,
    signal,
  });

export const readIntent = (id: string, signal: AbortSignal) =>
  request<OneIntent>("GET", sessionPath(id, "/intent"), { signal });

/** What was remembered of prompts goes. */
export const writeGoals = (id: string, goals: string) =>
  request<OneIntent>("PUT", sessionPath(id, "/intent"), { body: { goals } });

export const deleteIntent = (id: string) => request<Forgotten>("DELETE", sessionPath(id, "/intent"));
