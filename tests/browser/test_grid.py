"""Several live terminals side by side: one has the keyboard, small ones are sampled."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.browser.harness import (
    PHONE,
    READ,
    BrowserCase,
    PageTerminal,
    expect_focus,
    wait_until_on_page,
)
from tests.integration.harness import DaemonHarness

FRONT = "[data-testid=cell][data-front=true]"
HOST = "[data-testid=terminal]"

LAST_ROWS = """cell => {
  const rows = cell.querySelector(".xterm-rows");
  const written = [...rows.children].filter((each) => each.textContent.trim());
  const [before, last] = written.slice(-2).map((each) => each.getBoundingClientRect());
  const body = cell.querySelector(".holder").getBoundingClientRect();
  const size = cell.querySelector("[data-testid=foreign-size]")?.getBoundingClientRect();
  const faults = [];
  if (!(parseFloat(getComputedStyle(rows).fontSize) >= 10)) faults.push("letters too small");
  if (!written.some((each) => /^seen-\\d-42/.test(each.textContent))) faults.push("no last rows");
  if (!(last?.bottom <= body.bottom + 1 && before.top >= body.top)) faults.push("rows cut off");
  if (!(size?.bottom <= body.top)) faults.push("no size in the head");
  return faults;
}"""
"""What is wrong with how a cell shows the last rows of its session."""


class GridTests(BrowserCase):
    def cells(self, page: Page) -> Locator:
        return page.get_by_test_id("cell")

    def names(self, page: Page) -> list[str]:
        return page.locator("[data-testid=cell-name] span").all_inner_texts()

    def front(self, page: Page) -> str:
        return page.locator(f"{FRONT} [data-testid=cell-name]").inner_text()

    def screen(self, page: Page, session: str) -> list[str]:
        """The rows of a session's cell."""
        host = page.locator(f"{HOST}[data-session='{session}']")
        text: dict[str, list[str]] = host.evaluate(READ)
        return [row.rstrip() for row in text["screen"]]

    def links(self, page: Page) -> list[str | None]:
        """The state of each cell's connection, in their order."""
        hosts = self.cells(page).locator(HOST)
        return [each.get_attribute("data-link") for each in hosts.all()]

    def count(self, page: Page, wanted: int) -> None:
        wait_until_on_page(page, f"{wanted} cells", lambda: self.cells(page).count() == wanted)

    def drawn(self, page: Page, wanted: int) -> None:
        """Wait for so many terminals in cells, each drawn and its size known to be one or other."""
        shown = self.cells(page).locator(f"{HOST}[data-painted][data-renderer]")
        wait_until_on_page(page, f"{wanted} drawn", lambda: shown.count() == wanted)

    def size(self, daemon: DaemonHarness, session: str) -> tuple[int, int]:
        record = self.record(daemon, session)
        return record["cols"], record["rows"]

    def test_grid_shows_live_sessions_side_by_side(self) -> None:
        daemon = self.daemon()
        ids = [self.session(daemon, name) for name in ("one", "two", "three", "four")]
        page = self.terminal(daemon.url).page
        page.keyboard.press("Alt+Shift+2")
        self.drawn(page, 2)
        wait_until_on_page(page, "both live", lambda: self.links(page) == ["open", "open"])
        # Typing goes to the one in front alone, and the keyboard moves by keys.
        expect_focus(page.locator(f"{FRONT} textarea"))
        page.keyboard.type("echo $((40+2))\n")
        wait_until_on_page(page, "typed in one", lambda: "42" in self.screen(page, ids[0]))
        page.keyboard.press("Control+Shift+ArrowRight")
        wait_until_on_page(page, "two in front", lambda: self.front(page) == "two")
        expect_focus(page.locator(f"{FRONT} textarea"))
        page.keyboard.type("echo $((41+2))\n")
        wait_until_on_page(page, "typed in two", lambda: "43" in self.screen(page, ids[1]))
        self.assertNotIn("43", self.screen(page, ids[0]))
        wait_until_on_page(
            page,
            "each has the size of its cell",
            lambda: max(self.size(daemon, each)[0] for each in ids[:2]) < 90,
        )
        # By command, and a tab dragged onto a cell.
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").fill("3 terminals")
        page.keyboard.press("Enter")
        self.count(page, 3)
        self.drawn(page, 3)
        page.locator(f"[data-testid=tab][data-session='{ids[3]}']").drag_to(self.cells(page).nth(0))
        wait_until_on_page(page, "dropped", lambda: self.names(page) == ["four", "two", "three"])
        wait_until_on_page(page, "four in front", lambda: self.front(page) == "four")
        # One as large as all, kept by this browser over a reload; then all again.
        page.keyboard.press("Alt+Shift+M")
        self.count(page, 1)
        page.reload()
        self.drawn(page, 1)
        page.get_by_test_id("cell-zoom").click()
        self.drawn(page, 3)
        self.assertEqual(["four", "two", "three"], self.names(page))
        # One chosen elsewhere takes the place of the one in front; a closed cell ends nothing.
        page.keyboard.press("Alt+1")
        wait_until_on_page(page, "replaced", lambda: self.names(page) == ["one", "two", "three"])
        page.get_by_test_id("cell-close").nth(0).click()
        wait_until_on_page(page, "closed", lambda: self.names(page) == ["two", "three"])
        self.assertIsNotNone(self.record(daemon, ids[0])["pid"])
        page.keyboard.press("Alt+Shift+1")
        self.count(page, 0)
        PageTerminal(page).ready().wait(r".*\$")

    def test_grid_is_unavailable_where_cells_would_be_too_small(self) -> None:
        daemon = self.daemon()
        ids = [self.session(daemon, f"task {number}") for number in range(6)]
        for each in ids:
            command = {"input": f"clear; seq 30; echo seen-{ids.index(each)}-$((6*7))\r"}
            daemon.request("POST", f"/api/sessions/{each}/input", command).data()
        sizes = {each: self.size(daemon, each) for each in ids[1:]}
        page = self.terminal(daemon.url).page
        page.keyboard.press("Alt+Shift+6")
        self.drawn(page, 6)
        wait_until_on_page(page, "sampled", lambda: self.links(page) == ["open", *["resting"] * 5])
        for number, each in enumerate(ids):
            wait_until_on_page(
                page,
                each,
                lambda n=number, e=each: f"seen-{n}-42" in self.screen(page, e),  # type: ignore[misc]
            )
        # The last rows are shown, at a size that can be read.
        for cell in self.cells(page).all():
            wait_until_on_page(page, "readable", lambda c=cell: c.evaluate(LAST_ROWS) == [])  # type: ignore[misc]
        # What has the keyboard is live, and what lost it rests.
        self.cells(page).nth(4).locator(HOST).click()
        wait_until_on_page(page, "live", lambda: self.links(page)[4] == "open")
        page.keyboard.type("echo $((50+1))\n")
        wait_until_on_page(page, "typed", lambda: "51" in self.screen(page, ids[4]))
        wait_until_on_page(page, "one live", lambda: self.links(page).count("open") == 1)
        self.assertEqual(sizes, {each: self.size(daemon, each) for each in ids[1:]}, "left alone")
        # It is given this size when a person says so.
        page.locator(FRONT).get_by_test_id("foreign-size").click()
        wait_until_on_page(page, "fits", lambda: self.size(daemon, ids[4])[0] < 60)
        # A phone has one, and keeps the choice.
        phone = self.page(daemon.url, **PHONE)
        PageTerminal(phone).ready()
        self.assertEqual(0, self.cells(phone).count())
        self.assertEqual(0, phone.get_by_test_id("open-layout").count())
