import { describe, expect, test } from "vitest";
import { ApiError, createUnreachableError } from "../../api/errors.ts";
import {
  applyInboxEvent,
  dropItem,
  dropSession,
  isUrgent,
  withCurrentName,
  putItem,
  parseInbox,
} from "./inbox.ts";
import {
  readCheckboxes,
  getForm,
  isFreeText,
  isRisky,
  isKnown,
  type ApprovalItemResponse,
  getLeaning,
  getButtonLeaning,
  describeMissing,
  listOptions,
  acceptsText,
} from "./item.ts";
import { formatAnnouncement, describeRequest } from "./texts.ts";
import { formatAge, getOwnMessage, describeAsk, describeAnswerProblem } from "./cardtexts.ts";

const item = (part: Partial<ApprovalItemResponse> = {}): ApprovalItemResponse => ({
  id: "s1:1",
  sessionId: "s1",
  sessionName: "one",
  kind: "permission",
  createdAt: 1000,
  frame: "f",
  ...part,
});

const options = (...labels: string[]) =>
  labels.map((label, index) => ({ n: index + 1, label, selected: index === 0 }));

const ids = (items: readonly ApprovalItemResponse[]) => items.map((each) => each.id);

describe("inbox", () => {
  const second = item({ id: "s2:1", sessionId: "s2", createdAt: 500 });

  test("oldest first, whatever order they came in", () => {
    expect(ids(parseInbox([item(), second]))).toEqual(["s2:1", "s1:1"]);
    expect(ids(putItem([item()], second))).toEqual(["s2:1", "s1:1"]);
  });

  test("the newest of a session takes the place of the one before", () => {
    expect(ids(putItem([item(), second], item({ id: "s1:2", createdAt: 2000 })))).toEqual(["s2:1", "s1:2"]);
  });

  test("an update keeps the item's place and shows its new frame", () => {
    const after = applyInboxEvent([second, item()], "approval:updated", item({ frame: "g" }));
    expect(after.map((each) => each.frame)).toEqual(["f", "g"]);
  });

  test("the end of an older item leaves the newer one of its session", () => {
    const now = [item({ id: "s1:2" })];
    expect(
      applyInboxEvent(now, "approval:resolved", { id: "s1:1", sessionId: "s1", resolution: "superseded" }),
    ).toEqual(now);
    expect(
      applyInboxEvent(now, "approval:resolved", { id: "s1:2", sessionId: "s1", resolution: "answered" }),
    ).toEqual([]);
  });

  test.each([undefined, null, 7, "x", {}, { id: "s1:1" }])("%o is no item", (data) => {
    expect(applyInboxEvent([second], "approval:pending", data)).toEqual([second]);
    expect(parseInbox([data, second])).toEqual([second]);
  });

  test.each([undefined, null, {}, "x"])("an init with %o as its list is empty", (list) => {
    expect(parseInbox(list)).toEqual([]);
  });

  test("dropping by item and by session", () => {
    expect(ids(dropItem([item(), second], "s1:1"))).toEqual(["s2:1"]);
    expect(ids(dropSession([item(), second], "s2"))).toEqual(["s1:1"]);
  });

  test("a dialog stays urgent when it was seen, an idle agent does not", () => {
    expect(isUrgent(item({ acknowledgedAt: 5 }))).toBe(true);
    expect(isUrgent(item({ kind: "idle" }))).toBe(true);
    expect(isUrgent(item({ kind: "idle", acknowledgedAt: 5 }))).toBe(false);
  });

  test("an item goes under its session's present name", () => {
    expect(withCurrentName(item(), "renamed").sessionName).toBe("renamed");
    expect(withCurrentName(item(), undefined).sessionName).toBe("one");
  });
});

describe("forms", () => {
  const multiple = item({
    kind: "question",
    options: options("Type check", "Unit tests", "Type something"),
    context:
      "Which?\n❯ 1. [✔] Type check\n  2. [ ] Unit tests\n  3. [ ] Type something\n  9. [x] not an option",
  });

  test("boxes are read from the captured lines, for options that exist", () => {
    expect([...readCheckboxes(multiple)]).toEqual([
      [1, true],
      [2, false],
      [3, false],
    ]);
  });

  test.each([
    ["☑ a", true],
    ["☐ a", false],
    ["☒ a", true],
    ["◯ a", false],
    ["[x] a", true],
    ["[ ] a", false],
  ])("%s", (label, ticked) => {
    const found = readCheckboxes(item({ options: options("a"), context: `  1) ${label}` }));
    expect(found.get(1)).toBe(ticked);
  });

  test("what the service says of a box comes before what the lines show", () => {
    const told = { ...multiple, options: [{ n: 1, label: "Type check", selected: true, checked: false }] };
    expect(readCheckboxes(told).get(1)).toBe(false);
  });

  test("a numbered line without a box is a single choice", () => {
    expect(getForm(item({ options: options("Yes", "No"), context: "❯ 1. Yes\n  2. No" }))).toBe("single");
  });

  test("each sort of item has its form", () => {
    expect(getForm(multiple)).toBe("multiple");
    expect(getForm(item({ kind: "idle" }))).toBe("idle");
    expect(getForm(item())).toBe("blind");
    expect(getForm(item({ options: [] }))).toBe("blind");
  });

  test.each(["Type something.", "Type something", "Other", "Something else"])("%s opens a field", (label) => {
    expect(isFreeText({ n: 1, label, selected: false })).toBe(true);
  });

  test.each(["Yes", "Otherwise keep it", "PostgreSQL"])("%s opens none", (label) => {
    expect(isFreeText({ n: 1, label, selected: false })).toBe(false);
  });

  test("own words: an idle agent and a question's free-text option, no permission", () => {
    const asks = item({ kind: "question", options: options("A", "Type something.") });
    expect(acceptsText(asks)).toBe(true);
    expect(listOptions(asks).map(({ label }) => label)).toEqual(["A"]);
    expect(acceptsText(item({ kind: "question", options: options("A", "B") }))).toBe(false);
    expect(acceptsText(item({ options: options("Yes", "Other") }))).toBe(false);
    expect(acceptsText(multiple)).toBe(false);
    expect(acceptsText(item({ kind: "idle" }))).toBe(true);
  });

  test("the service says what deserves a second look, of permissions alone", () => {
    expect([isRisky(item({ riskHint: "x" })), isRisky(item({ toolSummary: "rm -rf x" }))]).toEqual([
      true,
      false,
    ]);
    expect(isRisky(item({ riskHint: "x", kind: "question" }))).toBe(false);
  });

  test("what the summary leaves out is said", () => {
    expect(describeMissing(item({ complete: true, toolSummary: "make" }))).toBeUndefined();
    const lacking = item({ complete: false, toolMissing: 1026, toolOther: ["content"] });
    expect(describeMissing(lacking)).toBe("Not in this summary: 1,026 more characters; content");
    expect(describeMissing(item({ complete: false, toolSummary: "make" }))).toMatch(/Check the terminal/);
    expect([getButtonLeaning(lacking, "yes"), describeMissing({ ...lacking, kind: "question" })]).toEqual([
      "other",
      undefined,
    ]);
  });

  test("a permission's first option agrees, its No declines; a question's options are equal", () => {
    const offered = options("Yes", "Yes, always", "No, and tell it why");
    const [yes] = offered;
    const leanings = offered.map((option) => getLeaning(item({ options: offered }), option));
    expect(leanings).toEqual(["yes", "other", "no"]);
    expect(yes && getLeaning(item({ kind: "question" }), yes)).toBe("other");
  });
});

describe("the widest permission is never marked", () => {
  test.each([
    [["Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"], 2],
    [["Yes", "Yes, and don\u2019t ask again for: touch *", "No"], 1],
    [["Yes, allow all edits during this session", "Yes", "No"], 2],
    [["Allow once", "Allow for this session", "No, suggest changes (esc)"], 1],
    [["Allow once", "Allow always", "Reject"], 1],
    [["Yes, and bypass permissions", "Keep planning"], 0],
    [["Trust and continue", "Back to Agent Command Center"], 0],
  ])("of %o it is %d", (labels, marked) => {
    const asks = item({ toolName: "Bash", options: options(...labels) });
    const found = (asks.options ?? []).filter((option) => getLeaning(asks, option) === "yes");
    expect(found.map(({ n }) => n)).toEqual(marked === 0 ? [] : [marked]);
  });
});

describe("what is not known", () => {
  const bash = item({ toolName: "Bash", toolSummary: "make test" });

  test("a permission without its tool, or a shell without its command", () => {
    expect(isKnown(bash)).toBe(true);
    expect(isKnown(item({ toolName: "WebFetch" }))).toBe(true);
    expect(isKnown(item({ toolName: "Bash" }))).toBe(false);
    expect(isKnown(item())).toBe(false);
    expect(isKnown(item({ kind: "question" }))).toBe(true);
  });

  test("agreeing to it looks like any other answer, unless the screen shows a risk", () => {
    expect(getButtonLeaning(bash, "yes")).toBe("yes");
    expect(getButtonLeaning(item(), "yes")).toBe("other");
    expect(getButtonLeaning(item(), "no")).toBe("no");
    expect(getButtonLeaning({ ...bash, complete: false }, "yes")).toBe("other");
    expect(getButtonLeaning({ ...bash, complete: false, toolOther: ["content"] }, "yes")).toBe("yes");
    const shown = item({ riskHint: "Deletes files for good" });
    expect([isRisky(shown), getButtonLeaning(shown, "yes")]).toEqual([true, "yes"]);
  });
});

describe("words", () => {
  test.each([
    [0, "just now"],
    [59_999, "just now"],
    [60_000, "1 min"],
    [59 * 60_000, "59 min"],
    [125 * 60_000, "2 h 5 min"],
  ])("%d ms", (age, text) => expect(formatAge(1000, 1000 + age)).toBe(text));

  test("what it wants", () => {
    expect(describeRequest(item({ toolName: "Bash", toolSummary: "ls" }))).toBe("wants to run ls");
    expect(describeRequest(item({ toolName: "Edit" }))).toBe("wants to edit a file");
    expect(describeRequest(item())).toBe("asks for permission");
    expect(formatAnnouncement(item({ kind: "question", message: "Which?" }))).toBe("one asks: Which?");
    expect(formatAnnouncement(item({ kind: "idle" }))).toBe("one is done");
  });

  test.each([
    [{ toolName: "Bash", toolSummary: "ls" }, "wants to run a command"],
    [{ toolName: "Shell", toolSummary: "ls" }, "wants to run a command"],
    [{ toolName: "Write", toolSummary: "/srv/work/README.md" }, "wants to write README.md"],
    [{ toolName: "Write" }, "wants to write a file"],
    [{ toolName: "ExitPlanMode", dialog: "plan" }, "has a plan for you"],
    [{ dialog: "plan" }, "has a plan for you"],
    [{ dialog: "trust" }, "asks whether to trust this folder"],
    [{ kind: "question", dialog: "api-key" }, "asks how to sign in"],
    [{ toolName: "mcp__forms__ask" }, "wants to use ask of forms"],
    [{ toolName: "Other" }, "wants to use Other"],
    [{}, "asks for permission"],
    [{ dialog: "permission" }, "asks for permission"],
    [{ kind: "question" }, "asks a question"],
  ] as const)("%o: %s", (part, words) => expect(describeAsk(item(part))).toBe(words));

  test("a permission's message repeats its tool", () => {
    expect(getOwnMessage(item({ toolName: "Bash", message: "needs Bash" }))).toBeUndefined();
    expect(getOwnMessage(item({ message: "needs it" }))).toBe("needs it");
  });

  test.each([
    [404, "gone"],
    [409, "changed"],
    [422, "kept"],
    [400, "kept"],
    [500, "kept"],
  ])("a %d leaves the item %s", (status, kind) => {
    expect(describeAnswerProblem(new ApiError(status, "", "why")).kind).toBe(kind);
  });

  test("the service's own reason is shown", () => {
    expect(
      describeAnswerProblem(new ApiError(409, "CONFLICT", "the dialog is no longer on the screen")).text,
    ).toContain("the dialog is no longer on the screen");
  });

  test("an answer that may have arrived is looked at again", () => {
    expect(describeAnswerProblem(createUnreachableError()).kind).toBe("changed");
  });
});
