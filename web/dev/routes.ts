/** The mock's HTTP answers, as far as the page asks. */
import type { IncomingMessage } from "node:http";
import type { CreateBody } from "../src/api/types.ts";
import { DOCTOR, GIT_DIFF, gitStatus, NOTICE_RULES, WEBHOOK } from "./around.ts";
import { conversationPage } from "./conversation.ts";
import { Refused } from "./refused.ts";
import { CLIS, type MockState } from "./state.ts";

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
  const wanted = body as unknown as CreateBody;
  const attached = wanted.attachRemoteSession?.remoteSessionName;
  if (wanted.workingDir && !wanted.workingDir.startsWith("/")) {
    throw new Refused(400, "INVALID_INPUT", "workingDir: must be an absolute path");
  }
  const session = state.add({
    mode: wanted.mode ?? "shell",
    workingDir: wanted.workingDir ?? "/home/demo/work",
    ...(wanted.name && { name: wanted.name }),
    ...(attached !== undefined && state.far.attach(attached)),
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
  if (part === "reachability" || part === "wake") return state.far.session(id, part);
  if (part === "input") return state.input.take(session, body);
  if (method === "PUT" && part === "auto-resume") {
    session.update({ autoResume: { ...session.record.autoResume, enabled: body["enabled"] === true } });
    return session.record.autoResume;
  }
  if (part === "look") return {};
  if (part === "checks") return { checks: [], running: false, runs: [] };
  if (part === "snooze") return {};
  if (part === "conversation") return conversationPage(session.record.mode);
  if (part === "git-status") return gitStatus(session.record.workingDir);
  if (part === "git-diff") return GIT_DIFF;
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

/** A valid point of P-256: the curve's generator. */
const PUSH_KEY = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";

function push(state: MockState, call: Call): unknown {
  if (call.path[2] === "key") return { publicKey: PUSH_KEY };
  const endpoint = String(call.body["endpoint"]);
  if (call.method === "POST") state.pushEndpoints.add(endpoint);
  else state.pushEndpoints.delete(endpoint);
  return {};
}

export function answer(state: MockState, call: Call): unknown {
  const [, what] = call.path;
  if (what === "sessions" && call.path.length > 2) return ofSession(state, call);
  if (what === "sessions" && call.method === "POST") return create(state, call.body);
  if (what === "status") return state.status();
  if (what === "clis") return CLIS;
  if (what === "settings") {
    if (call.method === "PUT") {
      state.change(call.body);
      state.publish("settings:changed", {});
    }
    return state.settings;
  }
  if (what === "session-order") {
    state.order(call.body["order"] as string[]);
    return { order: [...state.sessions.keys()] };
  }
  if (what === "reboot-restore") return { sessions: [], expiresAt: null, restoring: false };
  if (what === "approvals") return state.approvals.route(call.method, call.path, call.body);
  if (what === "approval-rules")
    return call.path[2] === "answers" ? { answers: [] } : { rules: [], suggestions: [] };
  if (what === "away") return call.path[2] === "seen" ? {} : { sessions: [], total: 0 };
  if (what === "notification-rules") return NOTICE_RULES;
  if (what === "cron") return state.cron.route(call.method, call.path, call.body);
  if (
    what === "remote-hosts" ||
    what === "container-hosts" ||
    (what === "cases" && call.path[2] !== "browse")
  )
    return state.far.route(call.path, call.body, call.method);
  if (what === "webhook" && call.method === "GET") return WEBHOOK;
  if (what === "doctor") return DOCTOR;
  if (what === "push") return push(state, call);
  if (what === "logout") return {};
  throw new Refused(404, "NOT_FOUND", `Route ${call.method} /${call.path.join("/")} not found`);
}
