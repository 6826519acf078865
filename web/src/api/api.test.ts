import { describe, expect, test } from "vitest";
import { unwrap } from "./envelope.ts";
import { ApiError, createStatusError, getInputErrorText, formatError } from "./errors.ts";
import { serviceUrl, sessionPath, socketUrl, terminalPath } from "./paths.ts";

function refusal(answer: Parameters<typeof unwrap>[0]): ApiError {
  try {
    unwrap(answer);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error("it was not refused");
}

test.each([
  ["workingDir: must be an absolute path", "Folder: must be an absolute path"],
  ["envOverrides.PATH: is not allowed", "Environment: is not allowed"],
  ["colourName: unknown", "Colour name: unknown"],
  ["not a field: this", "not a field: this"],
  ["Session not found", "Session not found"],
  ["Unable to preload CSS for /assets/GitPage-1.css", /Couldn't load/],
  ["Failed to fetch dynamically imported module: x", /Couldn't load/],
])("%s is said in words", (message, words) => {
  expect(formatError(new Error(message))).toMatch(words);
});

describe("unwrap", () => {
  test("gives the payload", () => {
    expect(unwrap({ status: 200, json: true, text: '{"success":true,"data":{"a":1}}' })).toEqual({ a: 1 });
  });

  test.each([400, 403, 404, 409, 422, 500])("%i keeps the service's words and code", (status) => {
    const text = '{"success":false,"error":"name: too long","errorCode":"SOME_CODE"}';
    expect(refusal({ status, json: true, text })).toMatchObject({
      status,
      message: "name: too long",
      code: "SOME_CODE",
    });
  });

  test("a success that is no success is an error", () => {
    expect(refusal({ status: 200, json: true, text: '{"success":false,"error":"x"}' }).message).toBe("x");
    expect(refusal({ status: 200, json: true, text: "[" }).message).toContain("Unexpected reply");
    expect(refusal({ status: 200, json: false, text: "<html>" }).message).toContain("Unexpected reply");
  });

  test("guard answers are bare text", () => {
    const refused = refusal({ status: 403, json: false, text: "Forbidden: host not allowed" });
    expect(refused.message).toBe("Forbidden: host not allowed");
  });
});

describe("bare errors", () => {
  test("a page of a proxy is not shown", () => {
    expect(createStatusError(502, "<html>Bad gateway</html>").message).toBe(
      "The proxy can't reach the server.",
    );
    expect(createStatusError(418, "").message).toBe("The server replied with status 418.");
  });

  test("too many attempts say when to come back", () => {
    expect(createStatusError(429, "Too Many", 40).message).toBe(
      "Too many attempts. Try again in 40 seconds.",
    );
    expect(createStatusError(429, "Too Many", 890).message).toBe(
      "Too many attempts. Try again in 15 minutes.",
    );
    expect(createStatusError(429, "Too Many").message).toBe("Too many attempts.");
  });
});

test("input errors have words, unknown ones keep their code", () => {
  expect(getInputErrorText("CONFLICT")).toContain("No program");
  expect(getInputErrorText("NEW_CODE")).toContain("NEW_CODE");
});

describe("addresses", () => {
  test.each([
    ["http://h:1/", "http://h:1/api/x", "ws://h:1/ws/y"],
    ["http://h:1/login", "http://h:1/api/x", "ws://h:1/ws/y"],
    ["https://h/pre/fix/?session=1", "https://h/pre/fix/api/x", "wss://h/pre/fix/ws/y"],
  ])("below %s", (base, api, socket) => {
    expect(serviceUrl("api/x", base)).toBe(api);
    expect(socketUrl("ws/y", base)).toBe(socket);
  });

  test("ids are escaped, a resume names epoch and offset", () => {
    expect(sessionPath("a/b", "/name")).toBe("api/sessions/a%2Fb/name");
    expect(terminalPath("a", "c", { epoch: "e&1", since: 0 })).toBe(
      "ws/sessions/a/terminal?cid=c&epoch=e%261&since=0",
    );
  });
});
