// @vitest-environment happy-dom
/** The fleet: what rows say, where they stand, and many of them dealt with at once. */
import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../api/errors.ts";
import { FakeService } from "../../api/fakeservice.ts";
import { SESSION } from "../../api/sample.ts";
import type { CliItem, Session } from "../../api/types.ts";
import { activeId, clis, sessionList } from "../../store/state.ts";
import { createSessionList } from "../../store/sessions.ts";
import { AskDialog } from "../../ui/AskDialog.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { listViolations, show } from "../../ui/rendered.ts";
import { describeStatus } from "../agents/statusdescription.ts";
import { sent } from "../prompt/broadcast.ts";
import { FleetPage } from "./FleetPage.tsx";
import {
  ALL,
  arrange,
  describeAge,
  describeWork,
  holdArrangement,
  listGroups,
  parseGrouping,
} from "./rules.ts";
import { clearSelection } from "./selection.ts";

const NOW = 10_000_000;
const CLAUDE = { id: "primary", label: "Claude Code", shortBadge: "CC", kind: "agent" } as CliItem;
const SHELL = { id: "shell", label: "Shell", shortBadge: "SH", kind: "shell" } as CliItem;

const session = (part: Partial<Session>): Session => ({ ...SESSION, name: part.id ?? "one", ...part });
const entryOf = (part: Partial<Session>, attention = false) => {
  const made = session({ id: "s", lastActivityAt: NOW - 120_000, ...part });
  const agent = made.mode === "shell" ? "Shell" : "Claude Code";
  return { session: made, status: describeStatus(made, attention), agent };
};
const agent = (part: Partial<Session>) => entryOf({ mode: "primary", ...part });

describe("a row says what runs", () => {
  const build = { name: "build.sh", since: NOW - 245_000 };
  test.each([
    [entryOf({ foreground: build }), "build.sh · 4 min", "4 min"],
    [entryOf({ lastExitStatus: 1 }), "exit 1", "2 min"],
    [entryOf({ lastExitStatus: 0 }), "ready", "2 min"],
    [agent({ status: "busy", currentTask: "Fixing it", currentTool: "Bash" }), "Fixing it", "2 min"],
    [agent({ status: "busy", currentTool: "Bash: make" }), "Bash: make", "2 min"],
    [
      agent({ status: "busy", lastAnswer: "Now the tests.", lastSubmitAt: NOW - 40_000 }),
      "Now the tests.",
      "40 s",
    ],
    [agent({ lastAnswer: "All 12 tests pass." }), "All 12 tests pass.", "2 min"],
    [agent({}), "ready", "2 min"],
    [agent({ pid: null, paneExit: { at: 1, status: 3 } }), "The program exited with status 3.", "2 min"],
  ])("%#: %s", (entry, what, age) => {
    expect([describeWork(entry, NOW), describeAge(entry, NOW)]).toEqual([what, age]);
  });

  test("a question is as old as it is in the inbox, whatever was drawn since", () => {
    expect(describeAge(agent({}), NOW, NOW - 480_000)).toBe("8 min");
  });
});

describe("the arrangement", () => {
  const entries = [
    agent({ id: "idle", workingDir: "/a" }),
    agent({ id: "busy", status: "busy", workingDir: "/b" }),
    entryOf({ id: "asks", mode: "primary", workingDir: "/a" }, true),
    entryOf({ id: "gone", pid: null, workingDir: "/b" }),
    entryOf({ id: "late", workingDir: "/b", lastActivityAt: NOW, lastExitStatus: 2 }),
  ];
  const ids = (part: Partial<typeof ALL>) => arrange(entries, { ...ALL, ...part }).map(({ id }) => id);

  test("those that need a person first, then what was active last", () => {
    expect(ids({})).toEqual(["asks", "busy", "late", "idle", "gone"]);
    const groups = listGroups(arrange(entries, ALL), "state");
    expect(groups.map(({ name, places }) => [name, places.length])).toEqual([
      ["Needs you", 1],
      ["Working", 1],
      ["Ready", 2],
      ["Not running", 1],
    ]);
  });

  test("by folder and by agent", () => {
    const names = (grouping: "folder" | "agent") =>
      listGroups(arrange(entries, { ...ALL, grouping }), grouping).map(({ name }) => name);
    expect(names("folder")).toEqual(["/a", "/b"]);
    expect(names("agent")).toEqual(["Claude Code", "Shell"]);
    expect([parseGrouping("agent"), parseGrouping("odd"), parseGrouping(null)]).toEqual([
      "agent",
      "state",
      "state",
    ]);
  });

  test("filters by state, folder, agent and words, also those for states", () => {
    expect(ids({ state: "idle" })).toEqual(["late", "idle"]);
    expect(ids({ folder: "/b", agent: "Shell" })).toEqual(["late", "gone"]);
    expect(ids({ words: "Needs claude" })).toEqual(["asks"]);
    expect(ids({ words: "exit 2" })).toEqual(["late"]);
  });

  test("stays under the pointer", () => {
    const before = [
      { id: "a", group: "busy" },
      { id: "b", group: "busy" },
    ];
    const now = [
      { id: "c", group: "attention" },
      { id: "b", group: "idle" },
    ];
    expect(holdArrangement(before, now, (id) => id !== "a")).toEqual([before[1], now[0]]);
  });
});

describe("the page", () => {
  let service: FakeService;

  beforeEach(() => {
    service = new FakeService();
    clis.value = [CLAUDE, SHELL];
    clearSelection();
    sent.value = [];
    activeId.value = undefined;
    sessionList.value = createSessionList([
      session({ id: "one", mode: "primary", status: "busy", currentTask: "Fixing it" }),
      session({ id: "two", mode: "primary", lastAnswer: "All done." }),
      session({ id: "three", mode: "primary" }),
      session({ id: "four", serverPorts: [5173] }),
    ]);
  });

  const row = (name: string) => screen.getByRole("listitem", { name: new RegExp(`^${name} `) });
  const pick = (name: string, init: MouseEventInit = { ctrlKey: true }) =>
    fireEvent.click(within(row(name)).getByTestId("fleet-visit"), init);
  const bar = () => screen.findByTestId("fleet-bar");

  test("lists every session with what it does, and is accessible", async () => {
    const { container } = show(<FleetPage />);
    expect(within(row("one")).getByTestId("fleet-what").textContent).toBe("Fixing it");
    expect(within(row("four")).getByTestId("server").textContent).toBe(":5173");
    expect(screen.getAllByTestId("fleet-group").map((each) => each.dataset["group"])).toEqual([
      "busy",
      "idle",
    ]);
    expect(await listViolations(container)).toEqual([]);
    pick("two");
    await bar();
    expect(await listViolations(container)).toEqual([]);
  });

  test("a click visits, with Ctrl it chooses, with Shift it chooses a range", async () => {
    const { user } = show(<FleetPage />);
    pick("one");
    pick("three", { shiftKey: true });
    expect((await bar()).textContent).toContain("3 selected");
    within(row("three")).getByTestId("fleet-visit").focus();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("fleet-bar")).toBeNull());
    expect(activeId.value).toBeUndefined();
    pick("two", {});
    expect(activeId.value).toBe("two");
  });

  test("a finger that rests chooses, and its end visits nothing", async () => {
    show(<FleetPage />);
    const main = within(row("one")).getByTestId("fleet-visit");
    vi.useFakeTimers();
    fireEvent.pointerDown(main, { pointerType: "touch" });
    vi.advanceTimersByTime(600);
    vi.useRealTimers();
    fireEvent.pointerUp(main, { pointerType: "touch" });
    fireEvent.click(main);
    expect((await bar()).textContent).toContain("1 selected");
    expect(activeId.value).toBeUndefined();
    // Then a tap is enough.
    fireEvent.pointerDown(within(row("two")).getByTestId("fleet-visit"), { pointerType: "touch" });
    pick("two", {});
    await waitFor(() => expect(screen.getByTestId("fleet-count").textContent).toBe("2 selected"));
  });

  test("the space bar chooses, arrow keys walk", async () => {
    const { user } = show(<FleetPage />);
    within(row("one")).getByTestId("fleet-visit").focus();
    await user.keyboard("{ArrowDown} ");
    expect((await bar()).textContent).toContain("1 selected");
    expect(
      within(row("two")).getByRole("checkbox").hasAttribute("checked") || row("two").dataset["chosen"],
    ).toBe("true");
  });

  test("one prompt goes to all, and each outcome is told", async () => {
    service.on("POST /api/sessions/{id}/input").mockImplementation(({ path }) => {
      if (path["id"] === "two") throw new ApiError(422, "OPERATION_FAILED", "answer that first");
      return { delivered: true };
    });
    const { user } = show(<FleetPage />);
    for (const name of ["one", "two", "four"]) pick(name);
    await user.type(await screen.findByTestId("fleet-prompt"), "run the tests{Enter}");
    const outcomes = await screen.findAllByTestId("fleet-outcome");
    await waitFor(() =>
      expect(outcomes.map((each) => each.textContent)).toEqual([
        "oneDelivered",
        "twoWaiting for your answer first.Send again",
        "fourNot sent: this is a shell.",
      ]),
    );
  });

  test("works are interrupted, each by its own key", async () => {
    const inputs = service.on("POST /api/sessions/{id}/input", { delivered: true });
    const { user } = show(<FleetPage />);
    pick("one");
    pick("two");
    await user.click(await screen.findByTestId("fleet-interrupt"));
    await waitFor(() => expect(inputs).toHaveBeenCalledTimes(1));
    expect(inputs.mock.calls[0]).toMatchObject([{ path: { id: "one" }, body: { input: "\x1b" } }]);
  });

  test("several are closed after one question", async () => {
    const closed = service.on("DELETE /api/sessions/{id}", {});
    const { user } = show(
      <>
        <FleetPage />
        <AskDialog />
      </>,
    );
    pick("one");
    pick("two");
    await user.click(await screen.findByTestId("fleet-close"));
    await user.click(within(screen.getByTestId("ask")).getByRole("button", { name: "Close" }));
    await waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
    await waitFor(() => expect(screen.queryByTestId("fleet-bar")).toBeNull());
    expect(sessionList.value.order).toEqual(["three", "four"]);
  });

  test("a group gets one colour", async () => {
    service.on("PUT /api/sessions/{id}/color", { color: "blue" });
    const { user } = show(
      <>
        <FleetPage />
        <Menu />
      </>,
    );
    pick("one");
    pick("two");
    await user.click(await screen.findByTestId("fleet-group-menu"));
    await user.click(screen.getByRole("menuitem", { name: "Blue" }));
    expect(["one", "two", "three"].map((id) => sessionList.value.byId.get(id)?.color)).toEqual([
      "blue",
      "blue",
      "default",
    ]);
  });

  test("what does not match is not shown, nor is it chosen with all", async () => {
    const { user } = show(<FleetPage />);
    await user.type(screen.getByTestId("fleet-filter"), "working");
    expect(screen.getAllByTestId("fleet-row")).toHaveLength(1);
    await user.click(screen.getByTestId("fleet-select"));
    await user.click(await screen.findByTestId("fleet-all"));
    expect(screen.getByTestId("fleet-count").textContent).toBe("1 selected");
  });
});
