import { describe, expect, test } from "vitest";
import type { CliItem } from "../../api/types.ts";
import {
  bodyOf,
  commandLine,
  draftOf,
  EMPTY,
  describeFileProblem,
  describeInstallPlan,
  validateDraft,
  describeInstallState,
  addAdvice,
} from "./texts.ts";

const draft = {
  id: "mine",
  label: " Mine ",
  badge: "MI",
  program: " run ",
  words: "  --fast  now ",
  others: [],
};
const cli = (part: Partial<CliItem>): CliItem => ({
  id: "x",
  label: "X",
  shortBadge: "X",
  order: 1,
  kind: "agent",
  enabled: true,
  stock: true,
  installed: true,
  ...part,
});

describe("the registry of CLIs", () => {
  test("shows the command line that comes of a draft", () => {
    expect(commandLine(EMPTY)).toBe("");
    expect(commandLine(draft)).toBe("run --fast now");
    expect(bodyOf(draft)).toEqual({
      label: "Mine",
      shortBadge: "MI",
      binaries: ["run"],
      argv: ["run", "--fast", "now"],
    });
  });

  test.each([
    [{ id: "Mine" }, "lowercase letter"],
    [{ id: "" }, "lowercase letter"],
    [{ label: " " }, "name"],
    [{ badge: "" }, "badge"],
    [{ program: "" }, "one program"],
    [{ program: "run fast" }, "one program"],
  ])("says what is wrong with %o", (part, words) => {
    expect(validateDraft({ ...draft, ...part })).toContain(words);
  });

  test("finds nothing wrong with a whole one", () => expect(validateDraft(draft)).toBeUndefined());

  test.each([
    [{ installed: false, version: "1" }, "not installed"],
    [{}, "installed"],
    [{ version: "1.2.3" }, "1.2.3"],
    [{ version: "1.2.3", enabled: false }, "1.2.3, turned off"],
  ])("says how %o stands", (part, words) => expect(describeInstallState(cli(part))).toBe(words));

  test("says beforehand where an install writes", () => {
    expect(describeInstallPlan({ command: "c", target: "/h/.local", writable: true })).toContain(
      "into /h/.local",
    );
    expect(describeInstallPlan({ command: "c", target: "/h/.local", writable: false })).toContain(
      "can't write",
    );
  });

  test("an entry goes into the form and comes out the same", () => {
    const entry = { binaries: ["run", "run2"], argv: ["run", "--fast", "now"] };
    const { label, shortBadge } = cli({});
    expect(bodyOf(draftOf(cli(entry)))).toEqual({ label, shortBadge, ...entry });
    expect(commandLine(draftOf(cli({ binaries: ["run"], argv: ["--fast"] })))).toBe("run --fast");
  });

  test("says what is wrong with the file, and the way out", () => {
    expect(describeFileProblem({ path: "/d/clis.json", entries: [] })).toBe("");
    expect(describeFileProblem({ path: "/d/clis.json", problem: "no JSON", entries: [] })).toContain("0600");
    const told = describeFileProblem({
      path: "/d/clis.json",
      entries: [{ id: "mine", problem: "label: bad" }],
    });
    expect(told).toContain("mine (label: bad)");
  });

  test("gives a way out", () => {
    expect(addAdvice("clis.json: not valid JSON; repair the file first")).toContain("Nothing was changed");
    expect(addAdvice("installing X needs npm, which is not installed")).toContain("first");
    expect(addAdvice("anything else")).toBe("anything else");
  });
});
