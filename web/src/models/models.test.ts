import { expect, test } from "vitest";
import {
  draftOf,
  EMPTY,
  modelText,
  newBody,
  patchOf,
  problemOf,
  questionOf,
  stateOf,
  wayOut,
} from "./words.ts";

const draft = { ...EMPTY, label: " Home ", baseUrl: " http://127.0.0.1:8080 " };

test("a key is sent only where one was typed, or is to go", () => {
  expect(newBody(draft)).toEqual({ label: "Home", baseUrl: "http://127.0.0.1:8080", authStyle: "bearer" });
  expect(newBody({ ...draft, apiKey: "k" }).apiKey).toBe("k");
  expect(patchOf(draft)).not.toHaveProperty("apiKey");
  expect(patchOf({ ...draft, apiKey: "k" }).apiKey).toBe("k");
  expect(patchOf({ ...draft, forgetKey: true }).apiKey).toBe("");
  expect(patchOf(draft).defaultModelId).toBeNull();
});

test("an endpoint's form never holds its key", () => {
  const endpoint = {
    id: "e",
    label: "Home",
    baseUrl: "http://h",
    apiKeySet: true,
    authStyle: "api-key" as const,
    models: [],
    lastDiscoveredAt: null,
  };
  expect(draftOf(endpoint)).toEqual({ ...EMPTY, label: "Home", baseUrl: "http://h", authStyle: "api-key" });
  expect(stateOf(endpoint)).toBe("not asked yet");
  expect(stateOf({ ...endpoint, lastDiscoveredAt: 1 })).toBe("offers no model");
});

test("what is wrong is said before it is sent", () => {
  expect(problemOf(draft)).toBeUndefined();
  expect(problemOf({ ...draft, label: " " })).toContain("name");
  for (const baseUrl of ["", "127.0.0.1:8080", "ftp://x", "http://"])
    expect(problemOf({ ...draft, baseUrl }), baseUrl).toContain("http");
});

test("errors have a way out, questions their words", () => {
  expect(wayOut("the models of Home: connection refused")).toContain("server runs");
  expect(wayOut("the models of Home: HTTP 401")).toContain("another key");
  expect(wayOut("2 live sessions use this endpoint")).toContain("Close them");
  expect(modelText({ id: "m", contextLength: 32_768 })).toBe("m · 33k tokens");
  const small = questionOf({ modelId: "m", contextLength: 8192, minSafeContextTokens: 40_000 });
  expect([small.answer, small.text.includes("8,192")]).toEqual(["confirmedContext", true]);
  const swap = questionOf({ currentlyLoadedModel: "big", affectedSessions: [{ id: "1", name: "one" }] });
  expect([swap.answer, swap.text.includes("one")]).toEqual(["confirmedSwap", true]);
});
