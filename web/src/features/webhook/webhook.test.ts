import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/errors.ts";
import type { WebhookResponse } from "../../api/types.ts";
import { diffDraft, isEmpty, parseProblem, describeResult } from "./texts.ts";

const SAVED: WebhookResponse = {
  enabled: false,
  kind: "topic",
  scope: "attention",
  hasUrl: true,
  urlMasked: "https://chat.example",
  lastResult: null,
};

describe("the webhook's card", () => {
  test("sends only what differs, and an untouched URL never", () => {
    expect(diffDraft(SAVED, {})).toEqual({});
    expect(diffDraft(SAVED, { enabled: false, kind: "topic", scope: "attention", url: "  " })).toEqual({});
    expect(diffDraft(SAVED, { enabled: true, kind: "chat_a", scope: "all", url: " https://x/y " })).toEqual({
      enabled: true,
      kind: "chat_a",
      scope: "all",
      url: "https://x/y",
    });
    expect([isEmpty({}), isEmpty({ enabled: false })]).toEqual([true, false]);
  });

  test.each([
    [
      "url: must begin with http:// or https://",
      { field: "url", text: "Must begin with http:// or https://." },
    ],
    ["enabled: needs a url", { field: "enabled", text: "Needs a url." }],
    ["body: is no JSON", { text: "body: is no JSON" }],
  ])("puts a refusal at its field: %s", (message, problem) => {
    expect(parseProblem(new ApiError(400, "INVALID_INPUT", message))).toEqual(problem);
  });

  test("another failure belongs to the whole card", () => {
    const text = "url: of another kind";
    expect(parseProblem(new ApiError(409, "CONFLICT", text))).toEqual({ text });
    expect(parseProblem(new Error("gone"))).toEqual({ text: "gone" });
  });

  test("tells what became of the last message", () => {
    const at = Date.now();
    expect(describeResult({ ok: true, status: 204, at }, at)).toMatch(/^Accepted \(HTTP 204\), /);
    expect(describeResult({ ok: false, error: "HTTP 500", status: 500, at }, at)).toMatch(/^HTTP 500, /);
    expect(describeResult({ ok: false, at }, at)).toMatch(/^Rejected, /);
  });
});
