import { describe, expect, test } from "vitest";
import type { Item } from "./items.ts";
import { findPlace, listPhrases } from "./places.ts";

const item = (order: number, part: Partial<Item>): Item => ({
  id: `i${order}`,
  order,
  at: null,
  turn: null,
  role: "assistant",
  kind: "text",
  ...part,
});

const tool = (order: number, part: Partial<NonNullable<Item["tool"]>>): Item =>
  item(order, {
    kind: "tool",
    tool: { name: "Bash", title: "Bash make", input: {}, status: "done", ...part },
  });

describe("phrases of an item", () => {
  test("are the beginnings of its lines as a terminal shows them", () => {
    const text =
      "## The plan of today\n\n- **bold** words\n1. Paint the door of the house green and then the window too\n";
    expect(listPhrases([item(1, { text })])).toEqual([
      "The plan of today",
      "Paint the door of the house green and",
    ]);
  });

  test("of a tool begin with what it was given", () => {
    const input = { command: "make test -j2" };
    expect(listPhrases([tool(1, { input, output: "12 tests passed" })])).toEqual([
      "make test -j2",
      "Bash make",
      "12 tests passed",
    ]);
    const path = { file_path: "/w/src/door.py" };
    expect(listPhrases([tool(1, { title: "Edit door", input: path })])).toEqual([
      "/w/src/door.py",
      "Edit door",
    ]);
  });

  test("may be short where there is nothing longer, and are bounded", () => {
    expect(listPhrases([item(1, { text: "ok" })])).toEqual(["ok"]);
    expect(listPhrases([item(1, { text: "" })])).toEqual([]);
    const text = Array.from({ length: 50 }, (_, n) => `line number ${n}`).join("\n");
    expect(listPhrases([item(1, { text })])).toHaveLength(5);
  });
});

describe("the place of rows", () => {
  const items = [
    item(1, { role: "user", text: "Paint the door" }),
    item(2, { text: "I **paint** the door in `green`, as you asked me to do this morning." }),
    tool(3, {
      title: "Edit door.py",
      diffs: [
        {
          path: "door.py",
          added: 1,
          removed: 0,
          hunks: [{ oldStart: 1, newStart: 12, lines: ["+colour = 'green'"] }],
        },
      ],
    }),
    item(4, { text: "Done. The door is green." }),
  ];

  test("is the item of the first one that is in any, whatever frames and breaks stand between", () => {
    const rows = ["│ ⏺ I paint the door in green, as", "│   you asked me to do this morning. │", ""];
    expect(findPlace(items, rows, false)).toEqual({ id: "i2", sure: true });
    expect(findPlace(items, ["● Done. The door is", ...rows], false)?.id).toBe("i2");
    expect(findPlace(items, ["Paint the door", "│"], false)).toEqual({ id: "i2", sure: false });
  });

  test("may be a line of a difference with its number", () => {
    expect(findPlace(items, ["     12 +colour = 'green'"], false)?.id).toBe("i3");
  });

  test("of a selection is the newest item with all of it", () => {
    expect(findPlace(items, ["the door"], true)?.id).toBe("i4");
    expect(findPlace(items, ["as", "you asked"], true)?.id).toBe("i2");
    expect(findPlace(items, ["the window"], true)).toBeUndefined();
    expect(findPlace(items, ["│ ─ │"], true)).toBeUndefined();
  });

  test("is nowhere for rows that say nothing", () => {
    expect(findPlace(items, ["", "$ ls", "│"], false)).toBeUndefined();
  });

  test("of a sub-agent's item is the call that began it", () => {
    const inside = item(9, { text: "Looking into the cellar now", parentId: "i3" });
    expect(findPlace([...items, inside], ["Looking into the cellar now"], false)?.id).toBe("i3");
  });
});
