// @vitest-environment happy-dom
/** The list of sessions at the side: as a list, as a rail, its width and its filter. */
import { hasReceivedInit } from "../../api/stream/connection.ts";
import { fireEvent, screen } from "@testing-library/preact";
import { beforeEach, expect, test } from "vitest";
import { SESSION } from "../../api/sample.ts";
import { DEFAULTS, prefs, SIDEBAR_LEAST, SIDEBAR_MOST } from "../../store/prefs.ts";
import { createSessionList } from "../../store/sessions.ts";
import { activeId, sessionList } from "../../store/state.ts";
import { listViolations, show } from "../../ui/rendered.ts";
import { narrow, wide } from "../../ui/width.ts";
import { setInbox } from "../approvals/state.ts";
import { Sidebar } from "./Sidebar.tsx";
import { filter, folded } from "./state.ts";

const NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

beforeEach(() => {
  sessionList.value = createSessionList(
    NAMES.map((name, at) => ({
      ...SESSION,
      id: name,
      name: `task ${name}`,
      workingDir: `/srv/${at % 2 ? "web" : "api"}`,
    })),
  );
  setInbox(() => [
    {
      id: "six:1",
      sessionId: "six",
      sessionName: "six",
      kind: "permission",
      createdAt: 1,
      frame: "f",
      toolName: "Bash",
      toolSummary: "make",
    },
  ]);
  hasReceivedInit.value = true;
  activeId.value = "two";
  prefs.value = DEFAULTS;
  [wide.value, narrow.value] = [true, false];
  filter.value = "";
  folded.value = new Set();
});

const rows = () => screen.queryAllByTestId("side-session");
const edge = () => screen.getByTestId("sidebar-edge");

test("one that needs a person stands above the folders, and nothing is named twice", async () => {
  const { container } = show(<Sidebar />);
  expect(screen.getAllByTestId("side-group").map((head) => head.textContent)).toEqual([
    "Needs you1",
    "api4",
    "web3",
  ]);
  expect(rows().map((row) => row.dataset["session"])).toEqual([
    "six",
    "one",
    "three",
    "five",
    "seven",
    "two",
    "four",
    "eight",
  ]);
  expect(rows()[0]?.getAttribute("aria-keyshortcuts")).toBe("Alt+1 F2 Delete");
  expect(await listViolations(container)).toEqual([]);
});

test("a rail says to a screen reader what it has no room for", async () => {
  wide.value = false;
  const { container } = show(<Sidebar />);
  expect(rows()[0]?.getAttribute("aria-label")).toBe("task six: wants to run make");
  expect(container.querySelector(".side-initials")?.textContent).toBe("TS");
  expect(screen.queryByTestId("side-filter")).toBeNull();
  expect(screen.queryByTestId("sidebar-edge")).toBeNull();
  expect(await listViolations(container)).toEqual([]);
});

test("the filter knows states; Enter goes to the first that is left, and Escape takes it back", async () => {
  const { user } = show(<Sidebar />);
  const field = screen.getByTestId("side-filter");
  await user.type(field, "blocked");
  expect(rows().map((row) => row.dataset["session"])).toEqual(["six"]);
  await user.keyboard("{Enter}");
  expect(activeId.value).toBe("six");
  await user.type(field, " nothing");
  expect(screen.getByText("No sessions match.")).toBeTruthy();
  await user.keyboard("{Escape}");
  expect(rows()).toHaveLength(NAMES.length);
  await user.keyboard("{ArrowDown}");
  expect(document.activeElement).toBe(rows()[0]);
});

test("a filter stays in sight while it hides sessions", async () => {
  const { user } = show(<Sidebar />);
  await user.type(screen.getByTestId("side-filter"), "blocked");
  sessionList.value = createSessionList([...sessionList.value.byId.values()].slice(0, 6));
  await screen.findByTestId("side-filter");
});

test("the edge is moved by keys within its bounds, and a double click restores the usual width", () => {
  show(<Sidebar />);
  fireEvent.keyDown(edge(), { key: "ArrowRight" });
  expect(prefs.value.sidebarWidth).toBe(DEFAULTS.sidebarWidth + 24);
  fireEvent.keyDown(edge(), { key: "End" });
  expect(prefs.value.sidebarWidth).toBe(SIDEBAR_MOST);
  fireEvent.keyDown(edge(), { key: "ArrowRight" });
  expect(prefs.value.sidebarWidth).toBe(SIDEBAR_MOST);
  fireEvent.keyDown(edge(), { key: "Home" });
  expect(prefs.value.sidebarWidth).toBe(SIDEBAR_LEAST);
  expect(edge().getAttribute("aria-valuenow")).toBe(String(SIDEBAR_LEAST));
  fireEvent.dblClick(edge());
  expect(prefs.value.sidebarWidth).toBe(DEFAULTS.sidebarWidth);
});
