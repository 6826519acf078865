import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { request } from "./client.ts";

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
