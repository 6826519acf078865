/** The mock's HTTP answers, as far as the page asks. */
import type { IncomingMessage } from "node:http";
import type { NewSessionBody } from "../src/api/types.ts";
import { CLIS, type MockState } from "./state.ts";

export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Call {
  method: string;
  path: string[];
  query: URLSearchParams;
  body: Record<string, unknown>;
}

export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function create(state: MockState, body: Record<string, unknown>): unknown {
  const wanted = body as unknown as NewSessionBody;
  if (wanted.workingDir && !wanted.workingDir.startsWith("/")) {
    throw new Refused(400, "INVALID_INPUT", "workingDir: must be an absolute path");
  }
  const session = state.add({
    mode: wanted.mode ?? "shell",
    workingDir: wanted.workingDir ?? "/home/demo/work",
    ...(wanted.name && { name: wanted.name }),
  });
  session.run();
  return { session: session.record };
}

function search(text: string, query: string): unknown {
  const lines = text.replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, "").split(/\r?\n/);
  const matches = lines.flatMap((line, n) => {
    const offset = line.toLowerCase().indexOf(query.toLowerCase());
    return offset < 0 ? [] : [{ line: n, text: line, offset }];
  });
  return { matches: matches.slice(0, 200), truncated: matches.length > 200 };
}

function ofSession(state: MockState, call: Call): unknown {
  const [, , id = "", part] = call.path;
  const session = state.sessions.get(id);
  if (!session) throw new Refused(404, "NOT_FOUND", `Session ${id} not found`);
  const { method, body, query } = call;
  if (part === undefined && method === "GET") return session.record;
  if (part === undefined && method === "DELETE") {
    if (query.get("killMux") === "false") session.update({ detached: true, pid: null });
    else state.remove(id);
    return {};
  }
  if (method === "PUT" && (part === "name" || part === "color")) {
    session.update({ [part]: String(body[part]) });
    return body;
  }
  if (method === "PUT" && part === "pin") {
    session.update({ pinned: body["pinned"] === true });
    return body;
  }
  if (part === "start") {
    if (session.record.status === "error" && body["clearBreaker"] !== true)
      throw new Refused(409, "CONFLICT", "the session is held back");
    session.run();
    return { session: session.record };
  }
  if (part === "search") return search(session.capture(), query.get("q") ?? "");
  if (part === "terminal") {
    const { cols: captureCols, rows: captureRows } = session.record;
    return {
      terminalBuffer: session.capture(),
      source: "full-history",
      captureCols,
      captureRows,
      truncated: false,
      offset: session.offset,
      epoch: session.epochNow,
    };
  }
  throw new Refused(404, "NOT_FOUND", `Route ${method} /${call.path.join("/")} not found`);
}

export function answer(state: MockState, call: Call): unknown {
  const [, what] = call.path;
  if (what === "sessions" && call.path.length > 2) return ofSession(state, call);
  if (what === "sessions" && call.method === "POST") return create(state, call.body);
  if (what === "status") return state.status();
  if (what === "clis") return CLIS;
  if (what === "settings") {
    if (call.method === "PUT") {
      state.settings = { ...state.settings, ...call.body };
      state.publish("settings:changed", {});
    }
    return state.settings;
  }
  if (what === "session-order") {
    state.order(call.body["order"] as string[]);
    return { order: [...state.sessions.keys()] };
  }
  if (what === "logout") return {};
  throw new Refused(404, "NOT_FOUND", `Route ${call.method} /${call.path.join("/")} not found`);
}
