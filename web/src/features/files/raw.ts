/** Bodies that are no envelopes: bytes of a file, and a file as it grows. */
import { createStatusError } from "../../api/errors.ts";
import { KEY_HEADER, pageKey } from "../../api/key.ts";
import { serviceUrl, sessionPath } from "../../api/paths.ts";
import { unwrap } from "../../api/envelope.ts";
import { StreamParser } from "../../api/stream/parser.ts";
import type { Opened, TailMessage } from "./state.ts";

async function open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const response = await fetch(serviceUrl(path, document.baseURI), {
    headers: { ...headers, [KEY_HEADER]: pageKey() },
    credentials: "same-origin",
    signal,
  });
  if (response.ok) return response;
  const text = await response.text();
  const json = (response.headers.get("Content-Type") ?? "").includes("json");
  unwrap({ status: response.status, json, text });
  throw createStatusError(response.status, text);
}

/** The first bytes of a file. */
export async function readHead(file: Opened, count: number, signal: AbortSignal): Promise<Uint8Array> {
  const path = sessionPath(file.sessionId, `/file-raw?${new URLSearchParams({ path: file.path })}`);
  const response = await open(path, { Range: `bytes=0-${count - 1}` }, signal);
  return new Uint8Array(await response.arrayBuffer()).subarray(0, count);
}

/**
 * A file whole.
 *
 * @throws it has more than `most` bytes: it grew since it was listed.
 */
export async function readWhole(file: Opened, most: number, signal: AbortSignal): Promise<Uint8Array> {
  const path = sessionPath(file.sessionId, `/file-raw?${new URLSearchParams({ path: file.path })}`);
  const response = await open(path, {}, signal);
  if (Number(response.headers.get("Content-Length")) > most) {
    await response.body?.cancel();
    throw new Error("The file is too large to show here.");
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Tells what is appended to a file until `signal`, or until the service ends it. */
export async function tail(
  file: Opened,
  lines: number,
  tell: (message: TailMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams({ path: file.path, lines: String(lines) });
  const path = sessionPath(file.sessionId, `/tail-file?${query}`);
  const { body } = await open(path, { Accept: "text/event-stream" }, signal);
  if (!body) return;
  const [parser, decoder, reader] = [new StreamParser(), new TextDecoder(), body.getReader()];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { data } of parser.push(decoder.decode(value, { stream: true })))
      tell(JSON.parse(data) as TailMessage);
  }
}
