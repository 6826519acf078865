import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import type { Session, SuggestionResponse } from "../../api/types.ts";
import { getPromptState } from "../prompt/state.ts";
import { settings } from "../../store/state.ts";
import { dispatchServerEvent } from "../../api/stream/events.ts";
import {
  canSuggest,
  followSuggestions,
  dropSuggestions,
  insertSuggestion,
  requestSuggestions,
  getSuggestions,
  getKindLabel,
  collectRejected,
} from "./state.ts";

const service = new FakeService();

const suggestion = (prompt: string): SuggestionResponse => ({ prompt, why: "because", kind: "continue" });
const answer = (...prompts: string[]) => ({ suggestions: prompts.map(suggestion), durationMs: 5 });

describe("words", () => {
  test("kinds are told, those of a later service by their name", () => {
    expect([getKindLabel("verify"), getKindLabel("celebrate")]).toEqual(["Check", "celebrate"]);
  });

  test("the newest ten are rejected, each once", () => {
    const many = Array.from({ length: 12 }, (_, n) => `p${n}`);
    expect(collectRejected(many, [suggestion("p11"), suggestion("new")])).toEqual([...many.slice(3), "new"]);
  });
});

describe("state", () => {
  const ask = service.on("POST /api/sessions/{id}/readmymind");
  followSuggestions();

  beforeEach(() => {
    dropSuggestions("s1");
    vi.resetAllMocks();
    settings.value = { readMyMindEnabled: true };
  });

  test("only where the service would answer", () => {
    const session = { id: "s1", mode: "codex" } as Session;
    expect([canSuggest(session), canSuggest({ ...session, mode: "primary" })]).toEqual([false, true]);
    settings.value = { readMyMindEnabled: true, readMyMindModes: ["codex"] };
    expect(canSuggest(session)).toBe(true);
    settings.value = {};
    expect(canSuggest({ ...session, mode: "primary" })).toBe(false);
  });

  test("a tap fills the box and sends nothing", async () => {
    ask.mockResolvedValueOnce(answer("go on"));
    await requestSuggestions("s1");
    const [first] = getSuggestions("s1").shown;
    insertSuggestion("s1", first ?? suggestion("none"));
    expect(getPromptState("s1").draft).toBe("go on");
    expect(getPromptState("s1").delivery).toBeUndefined();
  });

  test("a rethink rejects what was shown and tells what to heed", async () => {
    ask.mockResolvedValueOnce(answer("a", "b")).mockResolvedValueOnce(answer("c"));
    await requestSuggestions("s1");
    await requestSuggestions("s1", "be bold");
    expect(ask.mock.calls.map(([{ body }]) => body)).toEqual([
      {},
      { steer: "be bold", rejected: ["a", "b"] },
    ]);
    expect(getSuggestions("s1").shown.map((each) => each.prompt)).toEqual(["c"]);
  });

  test("one request at a time; who puts it away ends it", async () => {
    let signal: AbortSignal | undefined;
    ask.mockImplementationOnce((asked) => {
      signal = asked.signal;
      return new Promise(() => {});
    });
    const thinking = requestSuggestions("s1");
    await requestSuggestions("s1");
    expect(ask).toHaveBeenCalledOnce();
    dropSuggestions("s1");
    await thinking;
    expect([signal?.aborted, getSuggestions("s1").problem]).toEqual([true, undefined]);
  });

  test("a refusal is told, and what was shown stays", async () => {
    ask.mockResolvedValueOnce(answer("a")).mockRejectedValueOnce(new Error("no suggestions"));
    await requestSuggestions("s1");
    await requestSuggestions("s1");
    expect(getSuggestions("s1").problem).toContain("no suggestions");
    expect(getSuggestions("s1").shown).toHaveLength(1);
  });

  test("once the agent works they are of the past", async () => {
    ask.mockResolvedValueOnce(answer("a"));
    await requestSuggestions("s1");
    dispatchServerEvent("session:working", { id: "s1", at: 1 });
    expect(getSuggestions("s1").shown).toHaveLength(0);
  });
});
