/** The service of tests: answers the page's requests where they leave it. */
import { type Mock, vi } from "vitest";
import { ApiError } from "./errors.ts";
import { KEY_HEADER } from "./key.ts";
import type { Operations } from "./types.ts";

/** What a request brought. */
export interface Asked {
  path: Record<string, string>;
  query: Record<string, string>;
  /** The tests say what is in it. */
  body: any;
  signal: AbortSignal | undefined;
  /** The page key that was shown. */
  key: string;
}

export type Answering = Mock<(asked: Asked) => unknown>;

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Operation = `${Method} ${keyof Operations}`;

interface Route {
  method: string;
  pattern: RegExp;
  answer: Answering;
}

const BASE = "http://service/";

/** A refusal of the service, or a fault of the test's own. */
function toRefusal(error: unknown): Response {
  if (error instanceof DOMException || error instanceof TypeError) throw error;
  const { status, code, message } =
    error instanceof ApiError
      ? error
      : new ApiError(422, "OPERATION_FAILED", String((error as Error).message));
  return toResponse(status, { success: false, error: message, errorCode: code });
}

/** Without the streams of a real one, which would take their time. */
function toResponse(status: number, envelope: object): Response {
  const headers = new Headers({ "Content-Type": "application/json" });
  return { status, headers, text: () => Promise.resolve(JSON.stringify(envelope)) } as Response;
}

async function untilAborted<T>(answer: T | Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return answer;
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(new DOMException("", "AbortError"))),
  );
  return Promise.race([answer, aborted]);
}

export class FakeService {
  readonly #routes: Route[] = [];

  /**
   * Stands for the service from now on, with what of a browser a request needs.
   * What no route answers is a 404.
   */
  constructor() {
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => this.#fetch(new URL(url), init));
    if (typeof document === "undefined") vi.stubGlobal("document", { baseURI: BASE, hidden: false });
    if (typeof localStorage === "undefined")
      vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
  }

  /** @returns what answers the operation: a mock that is given what was sent, and gives the payload. */
  on(operation: Operation, payload?: unknown): Answering {
    const [method = "", path = ""] = operation.split(" ");
    const pattern = new RegExp(`${path.replace(/{(\w+)}/g, "(?<$1>[^/]+)")}$`);
    const answer: Answering = vi.fn(() => payload);
    this.#routes.unshift({ method, pattern, answer });
    return answer;
  }

  async #fetch(url: URL, { method, body, signal, headers }: RequestInit): Promise<Response> {
    for (const { pattern, answer, ...route } of this.#routes) {
      const found = route.method === method ? pattern.exec(url.pathname) : null;
      if (!found) continue;
      const asked: Asked = {
        path: Object.fromEntries(
          Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
        ),
        query: Object.fromEntries(url.searchParams),
        body: typeof body === "string" ? JSON.parse(body) : undefined,
        signal: signal ?? undefined,
        key: new Headers(headers).get(KEY_HEADER) ?? "",
      };
      try {
        return toResponse(200, { success: true, data: await untilAborted(answer(asked), signal) });
      } catch (error) {
        return toRefusal(error);
      }
    }
    return toRefusal(new ApiError(404, "NOT_FOUND", `no answer for ${method} ${url.pathname}`));
  }
}
