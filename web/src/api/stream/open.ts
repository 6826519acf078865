/** The network end of the event stream. */
import { checkForKeyRequest } from "../client.ts";
import { KEY_HEADER, pageKey } from "../key.ts";
import { serviceUrl } from "../paths.ts";
import type { Opened } from "./eventstream.ts";

/** `sessions` names no session: the terminal output comes over the WebSockets (protocol-sse). */
const PATH = "api/events?sessions=none";

async function* decode(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
}

async function* nothing(): AsyncGenerator<string> {}

export async function openStream(lastId: string | undefined, signal: AbortSignal): Promise<Opened> {
  const headers: Record<string, string> = { Accept: "text/event-stream", [KEY_HEADER]: pageKey() };
  if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
  const response = await fetch(serviceUrl(PATH, document.baseURI), {
    headers,
    signal,
    cache: "no-store",
    credentials: "same-origin",
  });
  checkForKeyRequest(response);
  return { status: response.status, text: response.body ? decode(response.body) : nothing() };
}
