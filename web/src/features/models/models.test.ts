import { expect, test } from "vitest";
import {
  draftOf,
  EMPTY,
  formatModel,
  newBody,
  patchOf,
  validateDraft,
  buildQuestion,
  describeModels,
  addAdvice,
} from "./texts.ts";

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
  expect(describeModels(endpoint)).toBe("not checked");
  expect(describeModels({ ...endpoint, lastDiscoveredAt: 1 })).toBe("no models");
});

test("what is wrong is said before it is sent", () => {
  expect(validateDraft(draft)).toBeUndefined();
  expect(validateDraft({ ...draft, label: " " })).toContain("name");
  for (const baseUrl of ["", "127.0.0.1:8080", "ftp://x", "http://"])
    expect(validateDraft({ ...draft, baseUrl }), baseUrl).toContain("http");
});

test("errors have a way out, questions their words", () => {
  expect(addAdvice("the models of Home: connection refused")).toContain("endpoint is running");
  expect(addAdvice("the models of Home: HTTP 401")).toContain("a valid key");
  expect(addAdvice("2 live sessions use this endpoint")).toContain("Close them");
  expect(formatModel({ id: "m", contextLength: 32_768 })).toBe("m · 33k tokens");
  const small = buildQuestion({ modelId: "m", contextLength: 8192, minSafeContextTokens: 40_000 });
  expect([small.answer, small.text.includes("8,192")]).toEqual(["confirmedContext", true]);
  const swap = buildQuestion({ currentlyLoadedModel: "big", affectedSessions: [{ id: "1", name: "one" }] });
  expect([swap.answer, swap.text.includes("one")]).toEqual(["confirmedSwap", true]);
});
