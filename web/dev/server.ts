/**
 * A stand-in for the service, to develop and look at the page without one.
 *
 *     node dev/server.ts [--port 8771, 0 for any] [--password word] [--static folder] [--empty]
 *
 * Listens on the loopback address only. POST /mock/drop?code=1006, /mock/down?ms=3000 and
 * /mock/event?name=session:blocked&id=... make trouble on demand. /mock/approval?kind=permission&id=...
 * raises an item, /mock/next?answer=409 and ?input=422 refuse the next one, ?hold=1 holds prompts until ?hold=0,
 * /mock/cron?job=...&failure=... fires a job as its schedule does, with a reason to fail if there is one,
 * /mock/way?id=...&seconds=12 has a session on a host that is out of reach (&up=1: reached again),
 * /mock/build?percent=40 builds an image (100: done, -1: failed),
 * /mock/plan?five=85 tells of plan usage, /mock/limit?id=...&minutes=42 pauses a session.
 */
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { Refused } from "./refused.ts";
import { answer, readBody } from "./routes.ts";
import { seedSessions } from "./seed.ts";
import { seedCron } from "./seedcron.ts";
import { MockState } from "./state.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8771" },
    password: { type: "string" },
    static: { type: "string", default: "../tservice/static" },
    empty: { type: "boolean", default: false },
  },
});

const COOKIE = "service_session=mock";
const CSP =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'self'";
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

const state = new MockState();
if (!values.empty) {
  seedSessions(state);
  seedCron(state);
}
let downUntil = 0;

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

const admitted = (request: IncomingMessage): boolean =>
  values.password === undefined || (request.headers.cookie ?? "").includes(COOKIE);

function sendFile(response: ServerResponse, path: string): void {
  const wanted = join(values.static, normalize(path));
  const found =
    path !== "/" && existsSync(wanted) && statSync(wanted).isFile()
      ? wanted
      : join(values.static, "index.html");
  const type = TYPES[extname(found)] ?? "application/octet-stream";
  response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": CSP });
  createReadStream(found).pipe(response);
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body["password"] !== values.password) return void response.writeHead(401).end("Unauthorized");
  response.setHeader("Set-Cookie", `${COOKIE}; Path=/; HttpOnly; SameSite=Lax`);
  json(response, 200, { success: true, data: {} });
}

const numberIn = (url: URL, name: string): number => Number(url.searchParams.get(name) ?? 0);

function agentTrouble(url: URL): void {
  const session = state.sessions.get(url.searchParams.get("id") ?? "");
  if (url.pathname === "/mock/approval" && session)
    state.approvals.raise(url.searchParams.get("kind") ?? "permission", session.record);
  if (url.pathname === "/mock/next") {
    state.approvals.nextStatus = numberIn(url, "answer");
    state.input.nextStatus = numberIn(url, "input");
    state.input.hold(numberIn(url, "hold") > 0);
  }
  if (url.pathname === "/mock/plan") {
    const fiveHour = { usedPercentage: numberIn(url, "five"), resetAt: Date.now() + 5_400_000 };
    state.publish("session:statusTelemetry", { sessionId: session?.record.id ?? "", fiveHour });
  }
  if (url.pathname === "/mock/limit" && session) {
    const resumeAt = Date.now() + numberIn(url, "minutes") * 60_000;
    session.update({ limitPaused: true, autoResume: { enabled: true, resumeAt } });
  }
}

function fire(url: URL): void {
  state.cron.nextFailure = url.searchParams.get("failure") ?? "";
  const job = state.cron.jobs.find((each) => each.name === url.searchParams.get("job"));
  if (job) state.cron.run(job.id, "scheduled");
}

function trouble(url: URL, response: ServerResponse): void {
  if (url.pathname === "/mock/drop")
    for (const each of state.sessions.values()) each.drop(Number(url.searchParams.get("code") ?? 1006));
  if (url.pathname === "/mock/event")
    state.publish(url.searchParams.get("name") ?? "", { id: url.searchParams.get("id"), at: Date.now() });
  if (url.pathname === "/mock/down") {
    state.publish("server:shutdown", {});
    downUntil = Date.now() + Number(url.searchParams.get("ms") ?? 3000);
    for (const each of state.sessions.values()) each.drop(1001);
    setTimeout(() => state.dropStreams(), 100);
  }
  if (url.pathname === "/mock/cron") fire(url);
  if (url.pathname === "/mock/way")
    state.far.way(url.searchParams.get("id") ?? "", url.searchParams.has("up"), numberIn(url, "seconds"));
  if (url.pathname === "/mock/build") state.far.build(numberIn(url, "percent"));
  agentTrouble(url);
  json(response, 200, {});
}

async function api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  if (url.pathname === "/api/events")
    return state.listen(response, request.headers["last-event-id"] as string | undefined);
  try {
    const body = await readBody(request);
    const call = {
      method: request.method ?? "GET",
      path: url.pathname.slice(1).split("/"),
      query: url.searchParams,
      body,
    };
    json(response, 200, { success: true, data: await answer(state, call) });
  } catch (error) {
    const refused = error instanceof Refused ? error : new Refused(500, "INTERNAL_ERROR", String(error));
    json(response, refused.status, { success: false, error: refused.message, errorCode: refused.code });
  }
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  if (url.pathname.startsWith("/mock/")) return trouble(url, response);
  if (Date.now() < downUntil) return void request.socket.destroy();
  if (url.pathname === "/api/login") return void login(request, response);
  if (!url.pathname.startsWith("/api/")) return sendFile(response, url.pathname);
  if (!admitted(request)) return void response.writeHead(401).end("Unauthorized");
  void api(request, response, url);
});

const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request, socket, head) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  if (Date.now() < downUntil || !admitted(request)) return socket.destroy();
  sockets.handleUpgrade(request, socket, head, (client) => {
    const session = state.sessions.get(url.pathname.split("/")[3] ?? "");
    if (!session) return client.close(4004, "no such session");
    session.attach(
      client,
      url.searchParams.get("cid") ?? "",
      url.searchParams.get("epoch"),
      Number(url.searchParams.get("since") ?? -1),
    );
  });
});

setInterval(() => state.heartbeat(), 15_000);
server.listen(Number(values.port), "127.0.0.1", () => {
  const address = server.address();
  console.log(`mock on port ${typeof address === "object" ? address?.port : values.port}`);
});
