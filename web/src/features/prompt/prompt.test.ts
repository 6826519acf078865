import { describe, expect, test } from "vitest";
import { ApiError, createUnreachableError } from "../../api/errors.ts";
import {
  describeDelivery,
  describeFailure,
  isAccepted,
  isUnderWay,
  readOutcome,
  reuseTicket,
} from "./delivery.ts";
import { DRAFTS_MAX, keepDraft, readDrafts, writeDrafts } from "./drafts.ts";
import {
  CHARS_MAX,
  addToHistory,
  PROMPTS_MAX,
  readPromptHistory,
  remember,
  SESSIONS_MAX,
  walkTo,
  serializePromptHistory,
  type PromptHistory,
} from "./history.ts";
import { getPromptAction, type PromptKey } from "./keys.ts";

describe("history", () => {
  test("the same prompt stands once, at the end", () => {
    expect(remember(["a", "b"], "a")).toEqual(["b", "a"]);
  });

  test("at most so many", () => {
    const many = Array.from({ length: PROMPTS_MAX }, (_, n) => `p${n}`);
    const after = remember(many, "new");
    expect(after).toHaveLength(PROMPTS_MAX);
    expect([after[0], after.at(-1)]).toEqual(["p1", "new"]);
  });

  test("up to the oldest and down again to what was being written", () => {
    const prompts = ["old", "new"];
    const first = walkTo(prompts, undefined, "draft", 1);
    expect(first?.text).toBe("new");
    const second = walkTo(prompts, first?.walk, "new", 1);
    expect(second?.text).toBe("old");
    expect(walkTo(prompts, second?.walk, "old", 1)).toBeUndefined();
    const back = walkTo(prompts, second?.walk, "old", -1);
    expect(back?.text).toBe("new");
    expect(walkTo(prompts, back?.walk, "new", -1)?.text).toBe("draft");
  });

  test("nothing below the draft, nothing above an empty history", () => {
    expect(walkTo(["a"], undefined, "draft", -1)).toBeUndefined();
    expect(walkTo([], undefined, "draft", 1)).toBeUndefined();
  });

  test("each session has its own", () => {
    const book = addToHistory(addToHistory(new Map(), "a", "one"), "b", "two");
    expect(book.get("a")).toEqual(["one"]);
    expect(book.get("b")).toEqual(["two"]);
  });

  test("the sessions used longest ago go first", () => {
    let book: PromptHistory = new Map();
    for (let n = 0; n <= SESSIONS_MAX; n++) book = addToHistory(book, `s${n}`, "x");
    expect(book.size).toBe(SESSIONS_MAX);
    expect(book.has("s0")).toBe(false);
    book = addToHistory(addToHistory(book, "s1", "again"), "new", "x");
    expect(book.has("s1")).toBe(true);
    expect(book.has("s2")).toBe(false);
  });

  test("its characters are bounded in all", () => {
    const book = addToHistory(addToHistory(new Map(), "a", "x".repeat(CHARS_MAX)), "b", "y");
    expect([...book.keys()]).toEqual(["b"]);
  });

  test("stored and read again", () => {
    const book = addToHistory(new Map(), "a", "one\ntwo");
    expect(readPromptHistory(serializePromptHistory(book))).toEqual(book);
  });

  test.each([null, "", "{", "5", "{}", '[["a"]]', '[["a",[1]]]', "[null]"])("%o is an empty book", (text) => {
    expect(readPromptHistory(text).size).toBe(0);
  });
});

describe("delivery", () => {
  test.each([
    [{ delivered: true }, "delivered"],
    [{ delivered: false, duplicate: true }, "duplicate"],
    [{ buffered: true }, "buffered"],
    [{ buffered: true, dropped: true }, "failed"],
    [{}, "failed"],
    [{ delivered: false }, "failed"],
  ])("%o", (answer, state) => expect(readOutcome(answer).state).toBe(state));

  test.each([400, 401, 404, 409, 413, 422, 429])("a %d typed nothing", (status) => {
    expect(describeFailure(new ApiError(status, "", "why"))).toMatchObject({
      state: "failed",
      unknown: false,
    });
  });

  test.each([
    createUnreachableError(),
    new ApiError(500, "", "x"),
    new ApiError(503, "", "x"),
    new Error("x"),
  ])("%o leaves it open whether it was typed", (error) =>
    expect(describeFailure(error)).toMatchObject({ state: "failed", unknown: true }),
  );

  test("the service's reason is shown", () => {
    expect(
      describeDelivery(describeFailure(new ApiError(422, "OPERATION_FAILED", "trust dialog is open"))),
    ).toContain("trust dialog is open");
  });

  test("the same text after an open end keeps its number; another text gets a new one", () => {
    const ticket = { clientId: "c", seq: 4, text: "do it" };
    const next = () => ({ clientId: "c", seq: 5 });
    expect(reuseTicket("do it", ticket, next)).toBe(ticket);
    expect(reuseTicket("do that", ticket, next)).toEqual({ clientId: "c", seq: 5, text: "do that" });
    expect(reuseTicket("do it", undefined, next).seq).toBe(5);
  });

  test("the text leaves the box only when the service has it", () => {
    expect(["delivered", "duplicate", "buffered"].map((state) => isAccepted({ state } as never))).toEqual([
      true,
      true,
      true,
    ]);
    expect(isAccepted({ state: "held" })).toBe(false);
    expect(isAccepted(describeFailure(createUnreachableError()))).toBe(false);
    expect(isUnderWay({ state: "held" })).toBe(true);
    expect(isUnderWay(undefined)).toBe(false);
  });
});

describe("drafts", () => {
  test("kept with the ticket of an attempt whose end is open", () => {
    const kept = { draft: "do it", ticket: { clientId: "c", seq: 1, text: "do it" } };
    const drafts = keepDraft(new Map(), "s", kept);
    expect(readDrafts(writeDrafts(drafts)).get("s")).toEqual(kept);
  });

  test("an empty one is not kept, and at most so many are", () => {
    expect(keepDraft(new Map([["s", { draft: "x" }]]), "s", { draft: "" }).size).toBe(0);
    let drafts = new Map() as ReturnType<typeof readDrafts>;
    for (let n = 0; n <= DRAFTS_MAX; n++) drafts = keepDraft(drafts, `s${n}`, { draft: "x" });
    expect(drafts.size).toBe(DRAFTS_MAX);
    expect(drafts.has("s0")).toBe(false);
  });

  test.each([null, "{", "7", '[["s"]]', '[["s",{"draft":5}]]', "[5]"])("%o holds none", (text) => {
    expect(readDrafts(text).size).toBe(0);
  });

  test("a ticket that makes no sense is left out", () => {
    expect(readDrafts('[["s",{"draft":"x","ticket":{"seq":"1"}}]]').get("s")).toEqual({ draft: "x" });
  });
});

describe("keys", () => {
  const press = (key: string, part: Partial<PromptKey> = {}): PromptKey => ({
    key,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    isComposing: false,
    ...part,
  });
  const at = (text: string, place = text.length) => ({ text, start: place, end: place });
  const ENTER: [Partial<PromptKey>, boolean, string | undefined][] = [
    [{}, true, "send"],
    [{}, false, undefined],
    [{ shiftKey: true }, true, undefined],
    [{ altKey: true }, true, undefined],
    [{ ctrlKey: true }, false, "send"],
    [{ metaKey: true }, false, "send"],
    [{ isComposing: true }, true, undefined],
    [{ keyCode: 229 }, true, undefined],
    [{ keyCode: 229, ctrlKey: true }, false, undefined],
  ];

  test.each(ENTER)("Enter with %o, Enter sends: %s", (part, enterSends, deed) => {
    expect(getPromptAction(press("Enter", part), at("x"), enterSends)).toBe(deed);
  });

  test("up from the first line and down from the last are the history's", () => {
    const text = "one\ntwo";
    expect(getPromptAction(press("ArrowUp"), at(text, 2), true)).toBe("older");
    expect(getPromptAction(press("ArrowUp"), at(text, 5), true)).toBeUndefined();
    expect(getPromptAction(press("ArrowDown"), at(text, 5), true)).toBe("newer");
    expect(getPromptAction(press("ArrowDown"), at(text, 2), true)).toBeUndefined();
  });

  test("with a modifier they are the text field's", () => {
    expect(getPromptAction(press("ArrowUp", { shiftKey: true }), at("x"), true)).toBeUndefined();
    expect(getPromptAction(press("Escape", { ctrlKey: true }), at("x"), true)).toBeUndefined();
  });

  test("Escape leads back to the terminal; letters are letters", () => {
    expect(getPromptAction(press("Escape"), at("x"), true)).toBe("leave");
    expect(getPromptAction(press("a"), at("x"), true)).toBeUndefined();
  });
});
