import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../api/errors.ts";
import { FakeService } from "../../api/fakeservice.ts";
import { toasts } from "../../store/toasts.ts";
import type { ApprovalItemResponse } from "./item.ts";

const {
  answer,
  answering,
  dismiss,
  answerProblems: troubles,
  isUndoable,
  undoDismiss,
} = await import("./actions.ts");
const { approvals, refresh, setInbox } = await import("./state.ts");
const { HELD_MS, isJustSent } = await import("./sent.ts");

const service = new FakeService();
const listed = service.on("GET /api/approvals", { approvals: [] });
const answered = service.on("POST /api/approvals/{item}/answer", {});
const dismissed = service.on("POST /api/approvals/{item}/dismiss", {});

const ITEM: ApprovalItemResponse = {
  id: "s:1",
  sessionId: "s",
  sessionName: "one",
  kind: "permission",
  createdAt: 1,
  frame: "seen",
  options: [{ n: 1, label: "Yes", selected: true }],
};

beforeEach(() => {
  setInbox(() => [ITEM]);
  toasts.value = [];
  troubles.value = new Map();
  for (const call of [listed, answered, dismissed]) call.mockReset().mockReturnValue({ approvals: [] });
});

afterEach(() => expect(answering.value.size).toBe(0));

test("the frame that was seen goes with the answer; the item waits for the service's word", async () => {
  expect(await answer(ITEM, { action: "option", option: 1 })).toBe(true);
  expect(answered).toHaveBeenCalledWith(
    expect.objectContaining({
      path: { item: "s:1" },
      body: { action: "option", option: 1, expectFrame: "seen" },
    }),
  );
  expect(approvals.value).toEqual([ITEM]);
});

test("one answer at a time", async () => {
  let release = () => {};
  answered.mockReturnValue(new Promise<void>((done) => (release = done)));
  const first = answer(ITEM, { action: "approve" });
  expect(answering.value.has("s:1")).toBe(true);
  expect(await answer(ITEM, { action: "deny" })).toBe(false);
  release();
  expect(await first).toBe(true);
  expect(answered).toHaveBeenCalledTimes(1);
});

test("404: the item goes and the person is told why", async () => {
  answered.mockImplementation(() => {
    throw new ApiError(404, "NOT_FOUND", "gone");
  });
  expect(await answer(ITEM, { action: "approve" })).toBe(false);
  expect(approvals.value).toEqual([]);
  expect(toasts.value[0]?.title).toBe("one");
});

test("409: the item is read again and says what happened", async () => {
  const changed = { ...ITEM, frame: "other" };
  answered.mockImplementation(() => {
    throw new ApiError(409, "CONFLICT", "the dialog has changed");
  });
  listed.mockReturnValue({ approvals: [changed] });
  expect(await answer(ITEM, { action: "approve" })).toBe(false);
  expect(approvals.value).toEqual([changed]);
  expect(troubles.value.get("s:1")).toContain("the dialog has changed");
  expect(toasts.value).toEqual([]);
});

test("409 of an item that is gone after reading again is told aside", async () => {
  answered.mockImplementation(() => {
    throw new ApiError(409, "CONFLICT", "answered in the terminal");
  });
  listed.mockReturnValue({ approvals: [] });
  await answer(ITEM, { action: "approve" });
  expect(toasts.value[0]?.text).toContain("answered in the terminal");
});

test("422: the item stays and may be answered again", async () => {
  answered.mockImplementationOnce(() => {
    throw new ApiError(422, "OPERATION_FAILED", "the write failed");
  });
  expect(await answer(ITEM, { action: "approve" })).toBe(false);
  expect(approvals.value).toEqual([ITEM]);
  expect(troubles.value.get("s:1")).toContain("Couldn't send the answer");
  expect(listed).not.toHaveBeenCalled();
  expect(await answer(ITEM, { action: "approve" })).toBe(true);
  expect(troubles.value.has("s:1")).toBe(false);
});

test("an answer to a read that an event has overtaken brings nothing back", async () => {
  let arrive = (_: { approvals: ApprovalItemResponse[] }) => {};
  listed.mockReturnValueOnce(new Promise((done) => (arrive = done)));
  listed.mockReturnValueOnce({ approvals: [] });
  const seen: ApprovalItemResponse[][] = [];
  const stop = approvals.subscribe((items) => void seen.push([...items]));
  const read = refresh();
  setInbox(() => []);
  arrive({ approvals: [ITEM] });
  await read;
  stop();
  expect(seen.slice(1).flat()).toEqual([]);
  expect(listed).toHaveBeenCalledTimes(2);
});

describe("dismissing", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("is told to the service when the card goes, and is undone until then", async () => {
    dismiss(ITEM);
    expect([isUndoable("s:1"), isJustSent("s:1")]).toEqual([true, true]);
    await vi.advanceTimersByTimeAsync(HELD_MS - 1);
    undoDismiss("s:1");
    expect([isUndoable("s:1"), isJustSent("s:1")]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(HELD_MS);
    expect(dismissed).not.toHaveBeenCalled();
    expect(approvals.value).toEqual([ITEM]);
    dismiss(ITEM);
    dismiss(ITEM);
    await vi.advanceTimersByTimeAsync(HELD_MS);
    expect(dismissed).toHaveBeenCalledTimes(1);
    expect(dismissed).toHaveBeenCalledWith(expect.objectContaining({ path: { item: "s:1" } }));
    expect(approvals.value).toEqual([]);
    expect([isUndoable("s:1"), isJustSent("s:1")]).toEqual([false, false]);
  });

  test("one that is gone already takes it off", async () => {
    dismissed.mockImplementationOnce(() => {
      throw new ApiError(404, "NOT_FOUND", "gone");
    });
    dismiss(ITEM);
    await vi.advanceTimersByTimeAsync(HELD_MS);
    expect(approvals.value).toEqual([]);
    expect(toasts.value).toEqual([]);
  });

  test("that failed brings the item back", async () => {
    listed.mockReturnValue({ approvals: [ITEM] });
    dismissed.mockImplementationOnce(() => {
      throw new ApiError(500, "", "no");
    });
    dismiss(ITEM);
    await vi.advanceTimersByTimeAsync(HELD_MS);
    expect(approvals.value).toEqual([ITEM]);
    expect(toasts.value[0]?.tone).toBe("bad");
  });
});
