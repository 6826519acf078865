import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { api, request } from "./client.ts";

const CUT = new TypeError("Failed to fetch");
const ANSWER = { success: true, data: { a: 1 } };

function answered(): Response {
  return Response.json(ANSWER);
}

/** An answer that is cut behind its head. */
function cutShort(): Response {
  const body = new ReadableStream({ start: (control) => control.error(CUT) });
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}

describe("a network that changes", () => {
  const fetched = vi.fn<() => Promise<Response>>();

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("document", { baseURI: "http://h/" });
    vi.stubGlobal("localStorage", { getItem: () => null });
    vi.stubGlobal("fetch", fetched);
    fetched.mockReset();
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  async function outcome(method: string): Promise<unknown> {
    const asked = request(method, "api/x").catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    return asked;
  }

  test("is not seen by who reads", async () => {
    fetched.mockRejectedValueOnce(CUT).mockResolvedValueOnce(answered());
    expect(await outcome("GET")).toEqual(ANSWER.data);
    fetched.mockResolvedValueOnce(cutShort()).mockResolvedValueOnce(answered());
    expect(await outcome("GET")).toEqual(ANSWER.data);
    expect(fetched).toHaveBeenCalledTimes(4);
  });

  test("that lasts is told after two attempts", async () => {
    fetched.mockRejectedValue(CUT);
    expect(await outcome("GET")).toMatchObject({ status: 0 });
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  test("never has a change made twice", async () => {
    for (const lost of [() => Promise.reject(CUT), () => Promise.resolve(cutShort())]) {
      fetched.mockReset();
      fetched.mockImplementation(lost);
      expect(await outcome("POST")).toMatchObject({ status: 0 });
      expect(fetched).toHaveBeenCalledTimes(1);
    }
  });

  test("is not waited for where nobody asks any more", async () => {
    fetched.mockRejectedValue(new DOMException("gone", "AbortError"));
    expect(await outcome("GET")).toMatchObject({ name: "AbortError" });
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});

describe("a call of an operation", () => {
  const fetched = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();

  beforeEach(() => {
    vi.stubGlobal("document", { baseURI: "http://h/prefix/" });
    vi.stubGlobal("localStorage", { getItem: () => null });
    vi.stubGlobal("fetch", fetched);
    fetched.mockReset().mockImplementation(() => Promise.resolve(answered()));
  });

  afterEach(() => vi.unstubAllGlobals());

  const sent = () => {
    const [url, { method, body }] = fetched.mock.lastCall ?? ["", {}];
    return [method, url, body];
  };

  test("answers with the payload", async () => {
    expect(await api.get("/api/settings")).toEqual(ANSWER.data);
    expect(sent()).toEqual(["GET", "http://h/prefix/api/settings", undefined]);
  });

  test("fills in the path and escapes it", async () => {
    await api.delete("/api/cases/{name}", { path: { name: "a/b?c" }, query: { force: true } });
    expect(sent()).toEqual(["DELETE", "http://h/prefix/api/cases/a%2Fb%3Fc?force=true", undefined]);
  });

  test("leaves out of the query what has no value", async () => {
    await api.get("/api/cases/browse", { query: { path: undefined, showHidden: false } });
    expect(sent()[1]).toBe("http://h/prefix/api/cases/browse?showHidden=false");
    await api.get("/api/admin/audit", { query: { actor: null } });
    expect(sent()[1]).toBe("http://h/prefix/api/admin/audit");
  });

  test("repeats a parameter for each entry of a list", async () => {
    await api.get("/api/sessions/{id}/git-status", { path: { id: "s" }, query: { timeout: ["5", "6"] } });
    expect(sent()[1]).toBe("http://h/prefix/api/sessions/s/git-status?timeout=5&timeout=6");
  });

  test("sends a body as JSON", async () => {
    const scopes = ["git"] as const;
    await api.post("/api/tokens", { body: { name: "n", scopes, expiresAt: undefined } });
    expect(sent()).toEqual(["POST", "http://h/prefix/api/tokens", '{"name":"n","scopes":["git"]}']);
  });

  test("is checked against the OpenAPI document", () => {
    const wrong = [
      // @ts-expect-error: no such path
      () => api.get("/api/nothing"),
      // @ts-expect-error: no such method
      () => api.put("/api/cases"),
      // @ts-expect-error: the path has a name
      () => api.get("/api/cases/{name}"),
      // @ts-expect-error: the body is missing
      () => api.post("/api/tokens"),
      // @ts-expect-error: the body has another type
      () => api.post("/api/cases", { body: { name: 1 } }),
      // @ts-expect-error: the answer has another type
      async () => (await api.get("/api/cases")).runs,
    ];
    expect(wrong).toHaveLength(6);
  });
});
