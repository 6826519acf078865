/** The routes of past conversations (protocol-conversations). */
import { request } from "../../api/client.ts";
import type { ConversationResponse, ConversationListResponse, TranscriptResponse } from "../../api/types.ts";

export const PAGE = 50;

export function listConversations(
  words: string,
  offset: number,
  signal: AbortSignal,
): Promise<ConversationListResponse> {
  const query = new URLSearchParams({ limit: String(PAGE), offset: String(offset) });
  if (words !== "") query.set("q", words);
  return request("GET", `api/history/sessions?${query}`, { signal });
}

export function readTranscript(
  { id, mode }: ConversationResponse,
  signal: AbortSignal,
): Promise<TranscriptResponse> {
  const query = new URLSearchParams({ mode });
  return request("GET", `api/history/sessions/${encodeURIComponent(id)}?${query}`, { signal });
}
