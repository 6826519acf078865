/** What the mock's agents said and did: the same in every session. */
import type { ConversationItemResponse, ConversationPageResponse } from "../src/api/types.ts";

const AT = Date.now() - 600_000;

const item = (order: number, part: Partial<ConversationItemResponse>): ConversationItemResponse => ({
  id: `${order}.0`,
  order,
  at: AT + order * 4_000,
  turn: "1.0",
  role: "assistant",
  kind: "text",
  ...part,
});

const ITEMS: ConversationItemResponse[] = [
  item(1, { role: "user", text: "The door should be green. Run the tests afterwards." }),
  item(2, { kind: "thinking", text: "The colour is set in door.py." }),
  item(3, {
    kind: "tool",
    tool: {
      name: "Edit",
      title: "Edit src/door.py",
      input: { file_path: "src/door.py" },
      status: "done",
      durationMs: 40,
      diffs: [
        {
          path: "src/door.py",
          added: 1,
          removed: 1,
          hunks: [
            {
              oldStart: 12,
              newStart: 12,
              lines: [' "red",', '-    colour = "red"', '+    colour = "green"'],
            },
          ],
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
      durationMs: 8_200,
      output: "test_colour ... FAIL\n1 failed, 41 passed\n",
    },
  }),
  item(5, {
    text: "One test still expects **red**:\n\n| test | expects |\n|---|---|\n| `test_colour` | red |\n\nSee [tests/test_door.py:7](tests/test_door.py:7).",
    tokens: { input: 1_200, output: 340, cacheRead: 18_000, cacheWrite: 0 },
    cost: 0.031,
  }),
];

export const conversationPage = (mode: string): ConversationPageResponse => ({
  items: ITEMS,
  cursor: "1-0",
  before: null,
  hasMore: false,
  source: { id: "mock", mode, earlier: [] },
  live: true,
});
