import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../../api/errors.ts";
import { toasts } from "../../store/toasts.ts";
import type { ApprovalItemResponse } from "./item.ts";

const calls = vi.hoisted(() => ({
  listApprovals: vi.fn(),
  answerApproval: vi.fn(),
  dismissApproval: vi.fn(),
  viewedApproval: vi.fn(),
}));
vi.mock("./calls.ts", () => calls);

const { answer, answering, dismiss, answerProblems: troubles } = await import("./actions.ts");
const { approvals, refresh, setInbox } = await import("./state.ts");

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
  for (const call of Object.values(calls)) call.mockReset();
});

afterEach(() => expect(answering.value.size).toBe(0));

test("the frame that was seen goes with the answer; the item waits for the service's word", async () => {
  calls.answerApproval.mockResolvedValue({});
  expect(await answer(ITEM, { action: "option", option: 1 })).toBe(true);
  expect(calls.answerApproval).toHaveBeenCalledWith("s:1", { action: "option", option: 1 }, "seen");
  expect(approvals.value).toEqual([ITEM]);
});

test("one answer at a time", async () => {
  let release = () => {};
  calls.answerApproval.mockReturnValue(new Promise<void>((done) => (release = done)));
  const first = answer(ITEM, { action: "approve" });
  expect(answering.value.has("s:1")).toBe(true);
  expect(await answer(ITEM, { action: "deny" })).toBe(false);
  release();
  expect(await first).toBe(true);
  expect(calls.answerApproval).toHaveBeenCalledTimes(1);
});

test("404: the item goes and the person is told why", async () => {
  calls.answerApproval.mockRejectedValue(new ApiError(404, "NOT_FOUND", "gone"));
  expect(await answer(ITEM, { action: "approve" })).toBe(false);
  expect(approvals.value).toEqual([]);
  expect(toasts.value[0]?.title).toBe("one");
});

test("409: the item is read again and says what happened", async () => {
  const changed = { ...ITEM, frame: "other" };
  calls.answerApproval.mockRejectedValue(new ApiError(409, "CONFLICT", "the dialog has changed"));
  calls.listApprovals.mockResolvedValue({ approvals: [changed] });
  expect(await answer(ITEM, { action: "approve" })).toBe(false);
  expect(approvals.value).toEqual([changed]);
  expect(troubles.value.get("s:1")).toContain("the dialog has changed");
  expect(toasts.value).toEqual([]);
});

test("409 of an item that is gone after reading again is told aside", async () => {
  calls.answerApproval.mockRejectedValue(new ApiError(409, "CONFLICT", "answered in the terminal"));
  calls.listApprovals.mockResolvedValue({ approvals: [] });
  await answer(ITEM, { action: "approve" });
  expect(toasts.value[0]?.text).toContain("answered in the terminal");
});

test("422: the item stays and may be answered again", async () => {
  calls.answerApproval.mockRejectedValueOnce(new ApiError(422, "OPERATION_FAILED", "the write failed"));
  calls.answerApproval.mockResolvedValueOnce({});
  expect(await answer(ITEM, { action: "approve" })).toBe(false);
  expect(approvals.value).toEqual([ITEM]);
  expect(troubles.value.get("s:1")).toContain("Couldn't send the answer");
  expect(calls.listApprovals).not.toHaveBeenCalled();
  expect(await answer(ITEM, { action: "approve" })).toBe(true);
  expect(troubles.value.has("s:1")).toBe(false);
});

test("an answer to a read that an event has overtaken brings nothing back", async () => {
  let arrive = (_: { approvals: ApprovalItemResponse[] }) => {};
  calls.listApprovals.mockReturnValueOnce(new Promise((done) => (arrive = done)));
  calls.listApprovals.mockResolvedValueOnce({ approvals: [] });
  const seen: ApprovalItemResponse[][] = [];
  const stop = approvals.subscribe((items) => void seen.push([...items]));
  const read = refresh();
  setInbox(() => []);
  arrive({ approvals: [ITEM] });
  await read;
  stop();
  expect(seen.slice(1).flat()).toEqual([]);
  expect(calls.listApprovals).toHaveBeenCalledTimes(2);
});

test("dismissing takes the item off; one that is gone already too", async () => {
  calls.dismissApproval.mockResolvedValueOnce({});
  await dismiss(ITEM);
  expect(approvals.value).toEqual([]);
  setInbox(() => [ITEM]);
  calls.dismissApproval.mockRejectedValueOnce(new ApiError(404, "NOT_FOUND", "gone"));
  await dismiss(ITEM);
  expect(approvals.value).toEqual([]);
});

test("a dismissal that failed keeps the item", async () => {
  calls.dismissApproval.mockRejectedValueOnce(new ApiError(500, "", "no"));
  await dismiss(ITEM);
  expect(approvals.value).toEqual([ITEM]);
  expect(toasts.value[0]?.tone).toBe("bad");
});
