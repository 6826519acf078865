// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { listViolations, show } from "../../ui/rendered.ts";
import { ConversationView } from "./ConversationView.tsx";
import type { Item } from "./items.ts";
import type { Page, Query, Reader } from "./source.ts";

class Nothing {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("IntersectionObserver", Nothing);
vi.stubGlobal("ResizeObserver", Nothing);

const item = (order: number, part: Partial<Item>): Item => ({
  id: `i${order}`,
  order,
  at: 1_795_864_811_157,
  turn: "i1",
  role: "assistant",
  kind: "text",
  ...part,
});

const ITEMS: Item[] = [
  item(1, { role: "user", text: "Paint the door" }),
  item(2, { kind: "thinking", text: "Which colour?" }),
  item(3, {
    kind: "tool",
    tool: {
      name: "Edit",
      title: "Edit door.py",
      input: {},
      status: "done",
      diffs: [
        {
          path: "door.py",
          added: 1,
          removed: 1,
          hunks: [{ oldStart: 3, newStart: 3, lines: ["-red", "+green"] }],
        },
      ],
    },
  }),
  item(4, {
    kind: "tool",
    tool: {
      name: "Bash",
      title: "Bash make test",
      input: { command: "make test" },
      status: "failed",
      exitCode: 1,
      output: "<b>1 failed</b>",
    },
  }),
  item(5, { kind: "error", role: "system", text: "API Error: 529" }),
];

function reader(page: (query: Query) => Page): Reader & { asked: Query[] } {
  const asked: Query[] = [];
  const found: Reader & { asked: Query[] } = {
    asked,
    page: async (query) => {
      asked.push(query);
      return page(query);
    },
    item: async (id) => ITEMS.find((each) => each.id === id) as Item,
    branch: () => found,
  };
  return found;
}

const whole = (query: Query): Page =>
  query.before === undefined
    ? { items: ITEMS.slice(2), cursor: "c", before: 3, hasMore: true }
    : { items: ITEMS.slice(0, 2), cursor: "c", before: null, hasMore: false };

test("tools open to their differences and output, and earlier items come when they are asked for", async () => {
  const source = reader(whole);
  const { container, user } = show(
    <ConversationView reader={source} title="door" agent="Claude Code" empty="Nothing yet." />,
  );
  await vi.waitFor(() => expect(container.textContent).toContain("Bash make test"));
  const [edit, ran] = container.querySelectorAll("details");
  expect(edit?.textContent).toContain("+1");
  expect(ran?.textContent).toContain("exit 1");
  await user.click(ran?.querySelector("summary") as Element);
  await vi.waitFor(() => expect(ran?.textContent).toContain("<b>1 failed</b>"));
  expect(ran?.querySelector("b")).toBeNull();
  await user.click(edit?.querySelector("summary") as Element);
  await vi.waitFor(() => expect(edit?.querySelector("[data-kind=add]")?.textContent).toBe("+green\n"));
  await user.click(container.querySelector("[data-testid=conversation-older]") as Element);
  await vi.waitFor(() => expect(container.textContent).toContain("Paint the door"));
  expect(source.asked.map(({ before }) => before)).toEqual([undefined, 3]);
  expect(await listViolations(container)).toEqual([]);
});

test("what is found is counted, and filters leave out the rest", async () => {
  const { container, user } = show(
    <ConversationView reader={reader(whole)} title="door" agent="Claude Code" empty="Nothing yet." />,
  );
  await vi.waitFor(() => expect(container.textContent).toContain("API Error"));
  await user.type(container.querySelector("[data-testid=conversation-find]") as Element, "make");
  expect(container.querySelector("[data-testid=conversation-found]")?.textContent).toBe("1 of 1");
  expect(container.querySelector("[data-marked=true]")?.textContent).toContain("Bash make test");
  await user.selectOptions(container.querySelector("select") as Element, "errors");
  expect(container.textContent).not.toContain("Edit door.py");
  expect(container.textContent).toContain("API Error");
});

test("a failed request is told, and an empty conversation says so", async () => {
  const failing = reader(() => {
    throw new Error("gone");
  });
  const first = show(<ConversationView reader={failing} title="x" agent="x" empty="Nothing yet." />);
  await vi.waitFor(() => expect(first.container.querySelector("[role=alert]")).not.toBeNull());
  const none = reader(() => ({ items: [], cursor: null, before: null, hasMore: false }));
  const second = show(<ConversationView reader={none} title="x" agent="x" empty="Nothing yet." />);
  await vi.waitFor(() => expect(second.container.textContent).toContain("Nothing yet."));
});
