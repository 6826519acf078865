/** Sessions that show every look of the page. */
import type { MockState } from "./state.ts";

const AGENT = [
  "\x1b[38;5;173m ▐▛███▜▌\x1b[0m  \x1b[1mAgent\x1b[0m \x1b[2mv2.1\x1b[0m",
  "\x1b[38;5;173m▝▜█████▛▘\x1b[0m \x1b[2mLarge model · ~/work/parser\x1b[0m",
  "",
  "\x1b[2m>\x1b[0m make the tokenizer accept hexadecimal floats",
  "",
  "\x1b[32m●\x1b[0m I read the tokenizer first.",
  "",
  "\x1b[32m●\x1b[0m \x1b[1mUpdate\x1b[0m(src/tokenizer.ts)",
  "  \x1b[2m⎿  Added 3 lines, removed 1 line\x1b[0m",
  "     \x1b[2m41\x1b[0m   \x1b[2mconst digits = /[0-9]+/y;\x1b[0m",
  "     \x1b[31m42 - const number = /[0-9]+(\\.[0-9]+)?/y;\x1b[0m",
  "     \x1b[32m42 + const decimal = /[0-9]+(\\.[0-9]+)?/y;\x1b[0m",
  "     \x1b[32m43 + const hex = /0x[0-9a-f]+(\\.[0-9a-f]+)?p[+-]?[0-9]+/iy;\x1b[0m",
  "",
  "\x1b[32m●\x1b[0m \x1b[1mBash\x1b[0m(npm test)",
  "  \x1b[2m⎿\x1b[0m  \x1b[32m✓\x1b[0m tokenizer \x1b[2m(48 tests)\x1b[0m 312ms",
  "     \x1b[32m✓\x1b[0m parser \x1b[2m(131 tests)\x1b[0m 894ms",
  "",
  "\x1b[38;5;173m✻ Thinking… \x1b[0m\x1b[2m(12s · ↓ 1.2k tokens · esc to interrupt)\x1b[0m",
  "",
  "",
].join("\r\n");

export function seedSessions(state: MockState): void {
  const agent = state.add({
    mode: "primary",
    name: "hexadecimal floats",
    nameSource: "auto",
    workingDir: "/home/demo/work/parser",
    color: "purple",
    pinned: true,
    displayModel: "Large model",
    contextUsedPercentage: 42,
    todos: [
      { text: "Read the tokenizer", status: "completed" },
      { text: "Accept hexadecimal floats", status: "in_progress", doing: "Accepting hexadecimal floats" },
      { text: "Run the tests", status: "pending" },
    ],
    currentTask: "Accepting hexadecimal floats",
  });
  agent.run();
  agent.write(`\x1b[2J\x1b[H${AGENT}`);
  agent.update({ status: "busy", statusReason: "working line on the screen" });
  const build = state.add({ name: "build", color: "green" });
  build.run();
  build.update({ foreground: { name: "build.sh", since: Date.now() - 245_000 } });
  state
    .add({
      mode: "codex",
      name: "review the migration",
      workingDir: "/home/demo/work/billing-service",
      color: "orange",
    })
    .run();
  state.planUsage = {
    fiveHour: { usedPercentage: 83.4, resetAt: Date.now() + 6_300_000 },
    sevenDay: { usedPercentage: 41, resetAt: Date.now() + 4 * 86_400_000 },
    at: Date.now(),
  };
  state.approvals.raise("permission", agent.record, 12 * 60_000);
  const reviewer = [...state.sessions.values()].find((each) => each.record.mode === "codex");
  if (reviewer) state.approvals.raise("multiple", reviewer.record, 3 * 60_000);
  const asking = state.add({
    mode: "primary",
    name: "choose the database",
    workingDir: "/home/demo/work/billing-service",
    color: "blue",
    displayModel: "Small model",
    contextUsedPercentage: 88,
  });
  asking.run();
  state.approvals.raise("question", asking.record, 60_000);
  const done = state.add({ mode: "primary", name: "write the changelog", displayModel: "Large model" });
  done.run();
  done.update({
    lastAnswer: "The changelog has an entry for each of the 14 pull requests.",
    totalCost: 0.42,
  });
  state.approvals.raise("idle", done.record, 20_000);
  state.add({ name: "logs" });
  const broken = state.add({ mode: "primary", name: "docs site", workingDir: "/srv/www/docs" });
  broken.update({ status: "error", respawnBlocked: true, statusReason: "5 exits within 10 s" });
}
