import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError, createUnreachableError } from "../../api/errors.ts";
import { dispatchServerEvent } from "../../api/stream/events.ts";
import { HELD_AFTER_MS, INPUT_MAX } from "./delivery.ts";

const request = vi.hoisted(() => vi.fn());
vi.mock("../../api/client.ts", () => ({ request, whenUnauthorized: vi.fn(), reportUnauthorized: vi.fn() }));

const stored = new Map<string, string>();
const storage = {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
};
vi.stubGlobal("URL", Object.assign(URL, { revokeObjectURL: vi.fn() }));
vi.stubGlobal("localStorage", storage);
vi.stubGlobal("sessionStorage", storage);

const { itemsOf, putItems } = await import("../attach/tray.ts");
const {
  getPromptState: boxOf,
  followPrompts,
  sendPrompt: send,
  walk,
  writeDraft: write,
} = await import("./state.ts");

interface Body {
  input: string;
  useMux: boolean;
  clientId: string;
  seq: number;
}
const bodyAt = (n: number): Body => (request.mock.calls[n] as [string, string, { body: Body }])[2].body;

let id = "";
let count = 0;

beforeEach(() => {
  vi.useFakeTimers();
  request.mockReset();
  id = `session-${++count}`;
});

afterEach(() => vi.useRealTimers());

test("a prompt goes as one, with its Enter and its number, and leaves the box", async () => {
  request.mockResolvedValue({ delivered: true });
  write(id, "one\ntwo  \n");
  await send(id);
  expect(request.mock.calls[0]?.slice(0, 2)).toEqual(["POST", `api/sessions/${id}/input`]);
  expect(bodyAt(0)).toMatchObject({ input: "one\ntwo\r", useMux: true });
  expect(boxOf(id)).toMatchObject({ draft: "", delivery: { state: "delivered" } });
});

test("good news goes away by itself", async () => {
  request.mockResolvedValue({ delivered: true });
  write(id, "x");
  await send(id);
  vi.advanceTimersByTime(10_000);
  expect(boxOf(id).delivery).toBeUndefined();
});

describe("files", () => {
  const put = (part: object) => putItems(id, [{ key: 7, name: "a.png", part: 1, thumb: "blob:a", ...part }]);
  const kept = { path: "/w/a.png", filename: "a.png", insert: "/w/a.png" };

  test("go with the prompt, and with it alone", async () => {
    request.mockResolvedValue({ delivered: true });
    put({ kept: { ...kept, insert: "@/w/a.png", attachment: "at" } });
    write(id, "look");
    await send(id);
    expect(bodyAt(0).input).toBe("@/w/a.png look\r");
    expect(itemsOf(id)).toEqual([]);
    expect(walk(id, 1) && boxOf(id).draft).toBe("look");
  });

  test("are pasted once by themselves, also when the prompt has to be sent again", async () => {
    put({ kept: { ...kept, attachment: "paste" } });
    request.mockResolvedValueOnce({ delivered: true }).mockRejectedValueOnce(createUnreachableError());
    await send(id);
    expect(bodyAt(0)).toMatchObject({ input: "\x1b[200~/w/a.png\x1b[201~", useMux: false, seq: 7 });
    expect(bodyAt(1)).toMatchObject({ input: "\r", useMux: false });
    request.mockResolvedValue({ delivered: true });
    await send(id);
    expect(bodyAt(2)).toEqual(bodyAt(1));
    expect(itemsOf(id)).toEqual([]);
  });

  test("on their way hold the prompt", async () => {
    put({ part: 0.5 });
    write(id, "look");
    await send(id);
    expect(request).not.toHaveBeenCalled();
    expect(boxOf(id)).toMatchObject({ draft: "look", delivery: { state: "failed" } });
  });
});

test("nothing is sent for nothing", async () => {
  write(id, " \n ");
  await send(id);
  expect(request).not.toHaveBeenCalled();
});

test("no answer for a while: it is held, and sent once only", async () => {
  let answer: (value: unknown) => void = () => {};
  request.mockReturnValue(new Promise((done) => (answer = done)));
  write(id, "x");
  const sending = send(id);
  expect(boxOf(id).delivery?.state).toBe("sending");
  vi.advanceTimersByTime(HELD_AFTER_MS);
  expect(boxOf(id)).toMatchObject({ draft: "x", delivery: { state: "held" } });
  await send(id);
  expect(request).toHaveBeenCalledTimes(1);
  answer({ delivered: true });
  await sending;
  expect(boxOf(id).draft).toBe("");
});

test("a lost answer keeps the text; the retry bears the same number and cannot type twice", async () => {
  request.mockRejectedValueOnce(createUnreachableError());
  write(id, "x");
  await send(id);
  expect(boxOf(id)).toMatchObject({ draft: "x", delivery: { state: "failed", unknown: true } });
  request.mockResolvedValueOnce({ delivered: false, duplicate: true });
  await send(id);
  expect([bodyAt(1).clientId, bodyAt(1).seq]).toEqual([bodyAt(0).clientId, bodyAt(0).seq]);
  expect(boxOf(id)).toMatchObject({ draft: "", delivery: { state: "duplicate" } });
});

test("a refusal keeps the text and gives the next attempt a number of its own", async () => {
  request.mockRejectedValueOnce(new ApiError(422, "OPERATION_FAILED", "not ready"));
  write(id, "x");
  await send(id);
  expect(boxOf(id)).toMatchObject({ draft: "x", delivery: { state: "failed", unknown: false } });
  request.mockResolvedValueOnce({ delivered: true });
  await send(id);
  expect(bodyAt(1).seq).toBeGreaterThan(bodyAt(0).seq);
});

test("too long a text stays and is not sent", async () => {
  write(id, "x".repeat(INPUT_MAX));
  await send(id);
  expect(request).not.toHaveBeenCalled();
  expect(boxOf(id).draft).toHaveLength(INPUT_MAX);
  expect(boxOf(id).delivery).toMatchObject({ state: "failed", unknown: false });
});

test("writing on takes the last outcome away", async () => {
  request.mockRejectedValueOnce(new ApiError(409, "CONFLICT", "no process"));
  write(id, "x");
  await send(id);
  write(id, "xy");
  expect(boxOf(id)).toMatchObject({ draft: "xy", delivery: undefined });
});

test("only what was delivered is remembered", async () => {
  request.mockRejectedValueOnce(new ApiError(409, "CONFLICT", "no process"));
  write(id, "refused");
  await send(id);
  request.mockResolvedValueOnce({ delivered: true });
  write(id, "taken");
  await send(id);
  write(id, "draft");
  expect(walk(id, 1)).toBe(true);
  expect(boxOf(id).draft).toBe("taken");
  expect(walk(id, 1)).toBe(false);
  expect(walk(id, -1)).toBe(true);
  expect(boxOf(id).draft).toBe("draft");
});

test("drafts outlive a reload, boxes do not outlive their session", () => {
  followPrompts();
  write(id, "draft");
  expect(stored.get("tservice.drafts")).toContain("draft");
  dispatchServerEvent("session:deleted", { id });
  expect(boxOf(id).draft).toBe("");
  expect(stored.get("tservice.drafts")).not.toContain(id);
});
