import { describe, expect, test } from "vitest";
import { fitView, parseView } from "./choice.ts";
import {
  countLines,
  describeFigures,
  describeResult,
  findItems,
  groupTurns,
  listChangedPaths,
  type Item,
  matchesFilter,
  mergeItems,
  sumFigures,
  titleWithin,
  toMarkdown,
} from "./items.ts";

const item = (order: number, part: Partial<Item> = {}): Item => ({
  id: `i${order}`,
  order,
  at: null,
  turn: null,
  role: "assistant",
  kind: "text",
  text: `text ${order}`,
  ...part,
});

const prompt = (order: number, text = `prompt ${order}`): Item => item(order, { role: "user", text });

const tool = (order: number, part: Partial<NonNullable<Item["tool"]>> = {}): Item =>
  item(order, {
    kind: "tool",
    text: undefined as never,
    tool: { name: "Bash", title: "Bash make", input: {}, status: "done", ...part },
  });

describe("merging", () => {
  test("changed items keep their place, and new ones come in order", () => {
    const known = [item(1), tool(2, { status: "running" }), item(5)];
    const found = [tool(2), item(4), item(6)];
    const merged = mergeItems(known, found, true);
    expect(merged.map(({ order }) => order)).toEqual([1, 2, 4, 5, 6]);
    expect(merged[1]?.tool?.status).toBe("done");
    expect(merged[0]).toBe(known[0]);
  });

  test("an item that did not change stays the same object", () => {
    const known = [item(1)];
    expect(mergeItems(known, [item(1)], true)[0]).toBe(known[0]);
  });

  test("items before all that is held are left out, and strange ones where none may come", () => {
    const known = [item(10)];
    expect(mergeItems(known, [item(3), item(12)], true).map(({ order }) => order)).toEqual([10, 12]);
    expect(mergeItems(known, [item(12)], false)).toHaveLength(1);
  });
});

describe("turns", () => {
  test("a prompt begins one, and a long one is several blocks", () => {
    const items = [item(0), prompt(1), ...Array.from({ length: 70 }, (_, n) => tool(n + 2)), prompt(90)];
    const turns = groupTurns(items);
    expect(turns.map(({ items: { length } }) => length)).toEqual([1, 30, 30, 11, 1]);
    expect(turns.map((turn) => turn.prompt?.order)).toEqual([undefined, 1, undefined, undefined, 90]);
  });

  test("unchanged ones are the same objects", () => {
    const items = [prompt(1), item(2), prompt(3), item(4)];
    const before = groupTurns(items);
    const after = groupTurns([...items, item(5)], before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  test("items of a sub-agent stand below its call", () => {
    const [turn] = groupTurns([prompt(1), tool(2), item(3, { parentId: "i2" })]);
    expect(turn?.items.map(({ id }) => id)).toEqual(["i1", "i2"]);
    expect(turn?.children.get("i2")?.map(({ id }) => id)).toEqual(["i3"]);
  });
});

test("filters show words, tools or what failed", () => {
  const failed = tool(1, { status: "failed" });
  expect(matchesFilter(failed, "errors")).toBe(true);
  expect(matchesFilter(tool(1), "errors")).toBe(false);
  expect(matchesFilter(failed, "talk")).toBe(false);
  expect(matchesFilter(item(1), "talk")).toBe(true);
  expect(matchesFilter(item(1), "tools")).toBe(false);
});

test("a search looks into words, titles and output", () => {
  const items = [prompt(1, "Paint"), tool(2, { output: "PAINTED" }), item(3)];
  expect(findItems(items, "paint")).toEqual(["i1", "i2"]);
  expect(findItems(items, "MAKE")).toEqual(["i2"]);
  expect(findItems(items, "  ")).toEqual([]);
});

test("figures are sums, and a cost is told where all of it is known", () => {
  const tokens = { input: 100, output: 20, cacheRead: 900, cacheWrite: 0 };
  expect(sumFigures([item(1)])).toBeUndefined();
  const figures = sumFigures([item(1, { tokens, cost: 0.5 }), item(2, { tokens, cost: 0.25 })]);
  expect(figures).toEqual({ input: 2000, output: 40, cost: 0.75 });
  expect(describeFigures({ input: 2000, output: 40, cost: 0.75 })).toBe("2K in · 40 out · $0.75");
  expect(sumFigures([item(1, { tokens, cost: 0.5 }), item(2, { tokens })])?.cost).toBeUndefined();
});

test("a result says how it ended and how long it took", () => {
  const of = (part: object) => describeResult({ name: "", title: "", input: {}, status: "done", ...part });
  expect(of({ durationMs: 8_400 })).toBe("8 s");
  expect(of({ status: "failed", exitCode: 1, durationMs: 300 })).toBe("exit 1");
  expect(of({ status: "failed" })).toBe("failed");
  expect(of({ status: "denied", exitCode: 1 })).toBe("denied");
  expect(of({ durationMs: 600_000 })).toBe("10 min");
});

test("titles leave out the folder, and a change that failed has no lines", () => {
  expect(titleWithin("Edit /w/src/a.py", "/w")).toBe("Edit src/a.py");
  expect(titleWithin("Edit /other/a.py", "/w")).toBe("Edit /other/a.py");
  const diffs = [{ path: "a", added: 2, removed: 1, hunks: [] }];
  const call = { name: "", title: "", input: {}, diffs };
  expect(countLines({ ...call, status: "done" })).toEqual({ added: 2, removed: 1 });
  expect(countLines({ ...call, status: "failed" })).toBeUndefined();
});

test("a turn's changed files are listed once, without those that failed", () => {
  const edit = (order: number, path: string, status: "done" | "failed" = "done") =>
    tool(order, { status, diffs: [{ path, added: 1, removed: 0, hunks: [] }] });
  expect(listChangedPaths([prompt(1), edit(2, "a"), edit(3, "b", "failed"), edit(4, "a"), tool(5)])).toEqual([
    "a",
  ]);
});

test("Markdown keeps what looks like Markdown in a tool's output", () => {
  const items = [
    prompt(1, "a\nb"),
    tool(2, { status: "failed", exitCode: 2, output: "```\nx\n```" }),
    item(3),
  ];
  expect(toMarkdown(items)).toBe("> a\n> b\n\n**Bash make** · exit 2\n\n````\n```\nx\n```\n````\n\ntext 3\n");
});

test("a phone opens in the conversation and a desk in the terminal", () => {
  const phone = { narrow: true, wide: false };
  const desk = { narrow: false, wide: true };
  expect([fitView(undefined, phone), fitView(undefined, desk)]).toEqual(["conversation", "terminal"]);
  expect([fitView("terminal", phone), fitView("both", phone)]).toEqual(["terminal", "conversation"]);
  expect([fitView("both", desk), fitView("both", { narrow: false, wide: false })]).toEqual([
    "both",
    "conversation",
  ]);
  expect([parseView("both"), parseView("other"), parseView(null)]).toEqual(["both", undefined, undefined]);
});
