"""Many sessions at a glance: which one is in front, what is known of it, and in whose words."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.harness import (
    LOST,
    PHONE,
    BrowserCase,
    captured_rows,
    expect_focus,
    is_uncovered,
    wait_until_on_page,
)
from tests.browser.mock_service import MockService

NARROW = {"width": 320, "height": 640}
OUTSIDE = """() => {
  const dialog = document.querySelector("dialog[open]").getBoundingClientRect();
  const found = [];
  for (const each of document.querySelectorAll("dialog[open] :is(button, input, select)")) {
    const { left, right, width } = each.getBoundingClientRect();
    const scrolls = each.closest(".segments");
    if (width > 0 && !scrolls && (left < dialog.left + 8 || right > dialog.right - 8))
      found.push(`${each.dataset.testid}: ${left} to ${right}`);
  }
  return found;
}"""
"""What stands on the edge of a dialog or beyond it; a row of choices scrolls."""

SHOWN_WHOLE = """() => {
  const row = document.querySelector("[data-testid=tabs]").getBoundingClientRect();
  const tab = document.querySelector("[data-testid=tab][data-active=true]").getBoundingClientRect();
  return tab.left >= row.left - 1 && tab.right <= row.right + 1;
}"""


class HeldCode:
    """The code that a page asks for, which waits until it is released."""

    def __init__(self, page: Page) -> None:
        self._held: list[Route] | None = []
        page.route("**/*.js", self._take)

    def _take(self, route: Route) -> None:
        if self._held is None:
            route.continue_()
        else:
            self._held.append(route)

    def release(self) -> None:
        held, self._held = self._held or [], None
        for route in held:
            route.continue_()


class TabTests(BrowserCase):
    def test_active_tab_is_scrolled_into_view(self) -> None:
        daemon = self.daemon()
        for number in range(12):
            self.session(daemon, f"session {number}", start=False)
        page = self.page(daemon.url)
        page.get_by_test_id("toggle-sidebar").click()
        page.get_by_test_id("tab").nth(11).wait_for()
        page.keyboard.press("Alt+9")
        last = page.get_by_test_id("tab").nth(8)
        wait_until_on_page(
            page, "the ninth in front", lambda: last.get_attribute("data-active") == "true"
        )
        wait_until_on_page(page, "its tab in view", lambda: page.evaluate(SHOWN_WHOLE))
        page.set_viewport_size({"width": 760, "height": 700})
        wait_until_on_page(page, "in view when narrow", lambda: page.evaluate(SHOWN_WHOLE))
        page.reload()
        page.get_by_test_id("tab").nth(11).wait_for()
        wait_until_on_page(page, "in view after a reload", lambda: page.evaluate(SHOWN_WHOLE))

    def test_renaming_begins_with_the_old_name_selected(self) -> None:
        daemon = self.daemon()
        self.session(daemon, "old name")
        page = self.terminal(daemon.url).page
        page.locator(".tab-name").dblclick()
        page.get_by_test_id("rename").wait_for()
        page.keyboard.type("new")
        page.keyboard.press("Enter")
        wait_until_on_page(
            page, "the new name", lambda: page.locator(".tab-name").inner_text() == "new"
        )


class CockpitConnectionTests(BrowserCase):
    expected = (*LOST, r"the server responded with a status of 400")

    def test_lost_connection_is_announced_once_and_states_become_unknown(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.terminal(daemon.url).page
        dot = page.get_by_test_id("tab").get_by_test_id("status")
        wait_until_on_page(page, "known", lambda: dot.get_attribute("data-stale") == "false")
        page.context.set_offline(True)
        wait_until_on_page(page, "a stale dot", lambda: dot.get_attribute("data-stale") == "true")
        self.assertIn("last known", dot.inner_text())
        wait_until_on_page(
            page, "one message", lambda: page.locator(".banner, .pill.connecting").count() == 1
        )
        page.context.set_offline(False)
        wait_until_on_page(page, "known again", lambda: dot.get_attribute("data-stale") == "false")

    def test_narrowest_phone_shows_the_session_name(self) -> None:
        daemon = self.daemon()
        self.session(daemon, "payments")
        page = self.page(daemon.url, **{**PHONE, "viewport": NARROW, "screen": NARROW})
        name = page.locator(".current-name")
        expect(name).to_have_text("payments")
        wait_until_on_page(page, "it in sight", lambda: is_uncovered(name))
        whole = "each => each.scrollWidth <= each.clientWidth"
        self.assertTrue(name.evaluate(whole), "the name is cut")


class CrowdedCockpitTests(BrowserCase):
    """A service with several sessions that wait, some of them agents."""

    expected = (r"the server responded with a status of 404",)

    def setUp(self) -> None:
        super().setUp()
        self.mock = MockService()
        self.addCleanup(self.mock.close)

    def test_narrowest_phone_shows_every_control(self) -> None:
        page = self.page(self.mock.url, **{**PHONE, "viewport": NARROW, "screen": NARROW})
        for name in ("attach", "send"):
            box = page.get_by_test_id(f"prompt-{name}").bounding_box()
            assert box is not None
            self.assertGreaterEqual(min(box["width"], box["height"]), 44, name)
        page.get_by_test_id("current").click()
        page.get_by_test_id("drawer-new").click()
        page.get_by_test_id("new-place").click()
        page.locator(".picker .places button").first.wait_for()
        self.assertEqual([], page.evaluate(OUTSIDE), "new session")
        for name, shown in (("fleet", "fleet-card"), ("cron", "job-more")):
            page.goto(f"{self.mock.url}/?page={name}")
            page.get_by_test_id(shown).first.wait_for()
            self.assertEqual([], page.evaluate(OUTSIDE), name)
            box = page.get_by_test_id(f"page-{name}").bounding_box()
            assert box is not None
            self.assertEqual((0, 320), (box["x"], box["width"]), name)

    def test_sessions_without_room_for_a_list_are_one_press_away(self) -> None:
        page = self.page(self.mock.url, viewport={"width": 1024, "height": 768})
        page.get_by_test_id("open-drawer").click()
        page.get_by_test_id("drawer-session").filter(has_text="docs site").click()
        page.get_by_test_id("drawer").wait_for(state="detached")
        expect(page.locator(".front-name")).to_have_text("docs site")

    def test_selection_is_outlined_in_forced_colours(self) -> None:
        for options in ({"viewport": {"width": 1440, "height": 900}}, PHONE):
            page = self.page(
                f"{self.mock.url}/?page=settings", **{**options, "forced_colors": "active"}
            )
            chosen, other = (page.get_by_test_id(f"theme-{each}") for each in ("system", "dark"))
            expect(chosen.locator("+ span")).to_have_css("outline-style", "solid")
            expect(other.locator("+ span")).to_have_css("outline-style", "none")
            expect(page.locator(".switch").first).to_have_css("border-top-style", "solid")
            if options is PHONE:
                continue
            front = page.locator(".side-row[data-active=true]")
            expect(front).to_have_css("outline-style", "solid")

    def test_earlier_prompt_is_found_in_the_history(self) -> None:
        address = f"{self.mock.url}/?session={self.mock.session('write the changelog')}"
        for options in ({"viewport": {"width": 1440, "height": 900}}, PHONE):
            page = self.page(address, **options)
            field = page.locator("#prompt-field")
            field.wait_for()
            page.evaluate("localStorage['tservice.prompts'] = '[[\"gone\", [\"count links\"]]]'")
            page.keyboard.press("Control+Shift+K")
            page.get_by_test_id("palette-field").fill("count li")
            row = page.get_by_test_id("palette-row").first
            expect(row).to_contain_text("sent earlier")
            row.click()
            expect(field).to_have_value("count links")
            expect_focus(field)

    def test_question_of_a_session_is_announced_once(self) -> None:
        """By a notice, unless the heads of cells or the inbox beside the terminal say it."""
        page = self.page(self.mock.url, viewport={"width": 1440, "height": 900})
        notice = page.get_by_test_id("ask-notice")
        notice.wait_for()
        page.keyboard.press("Alt+Shift+2")
        page.get_by_test_id("cell").first.wait_for()
        notice.wait_for(state="detached")
        page.keyboard.press("Alt+Shift+1")
        notice.wait_for()
        page.get_by_test_id("approvals-bell").click()
        page.get_by_test_id("approval").first.wait_for()
        notice.wait_for(state="detached")


class PaletteTests(BrowserCase):
    def test_palette_finds_a_session_by_a_few_letters(self) -> None:
        daemon = self.daemon()
        self.session(daemon, "payments api")
        self.session(daemon, "website")
        page = self.terminal(daemon.url).page
        front = page.locator("[data-testid=tab][data-active=true] .tab-name")
        for keys, letters, name in (("Control+Shift+K", "pa", "payments api"),
                                    ("Control+Shift+K", "web", "website")):  # fmt: skip
            page.keyboard.press(keys)
            page.get_by_test_id("palette-field").fill(letters)
            page.keyboard.press("Enter")
            wait_until_on_page(page, name, lambda name=name: front.inner_text() == name)  # type: ignore[misc]
            wait_until_on_page(page, "closed", page.get_by_test_id("palette").is_hidden)
        # The keyboard is the terminal's again, and Ctrl+K its program's.
        page.keyboard.press("Control+K")
        self.assertEqual(0, page.get_by_test_id("palette").count())

    def test_letters_typed_before_the_code_came_reach_no_program(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        for keys in ("Control+Shift+K", "Alt+Shift+N", "Alt+Shift+S", "Alt+Shift+H"):
            page = self.terminal(daemon.url).page
            code = HeldCode(page)
            page.keyboard.press(keys)
            page.keyboard.type("lost")
            code.release()
            page.locator("dialog[open]").wait_for()
            self.leave(page)
        path = f"/api/sessions/{session}/input"
        daemon.request("POST", path, {"input": "echo here\r"}).data()
        self.terminal(daemon.url).wait("here")
        self.assertEqual(
            ["$ echo here", "here", "$"], [r for r in captured_rows(daemon, session) if r]
        )

    @pytest.mark.essential
    def test_palette_runs_a_command_and_opens_a_page(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.terminal(daemon.url).page
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").fill("settin")
        page.get_by_test_id("palette-row").first.click()
        page.get_by_test_id("page-settings").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").fill("no such thing")
        wait_until_on_page(page, "no row", lambda: page.get_by_test_id("palette-row").count() == 0)
        page.get_by_test_id("palette-field").fill("settings: terminal")
        row = page.get_by_test_id("palette-row").first
        expect(row).to_contain_text("Settings: Terminal")
        row.click()
        part = page.get_by_test_id("settings-nav-terminal")
        expect(part).to_have_attribute("aria-current", "true")
        page.keyboard.press("Escape")
        page.get_by_test_id("page-settings").wait_for(state="detached")
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").fill(f"new session in {daemon.home.name}")
        expect(row).to_contain_text("New session in")
        row.click()
        page.get_by_test_id("new-place").click()
        expect(page.get_by_test_id("new-folder")).to_have_value(str(daemon.home))
        page.keyboard.press("Escape")
        wait_until_on_page(page, "closed", page.get_by_test_id("palette").is_hidden)


class SidebarTests(BrowserCase):
    def rows(self, page: Page) -> list[str]:
        return page.locator("[data-testid=side-session] .side-name").all_inner_texts()

    @pytest.mark.essential
    def test_many_sessions_are_listed_in_the_sidebar(self) -> None:
        daemon = self.daemon()
        for folder in ("api", "website"):
            (daemon.home / folder).mkdir()
        for number in range(8):
            place = daemon.home / ("api" if number % 2 else "website")
            self.session(daemon, f"task {number}", start=number == 0, workingDir=str(place))
        page = self.terminal(daemon.url).page
        wait_until_on_page(page, "groups", lambda: page.get_by_test_id("side-group").count() == 2)
        wait_until_on_page(page, "eight", lambda: len(self.rows(page)) == 8)
        expect(page.get_by_test_id("tab")).to_have_count(0)
        page.get_by_test_id("side-filter").fill("website")
        wait_until_on_page(page, "four", lambda: len(self.rows(page)) == 4)
        page.get_by_test_id("side-filter").fill("")
        page.get_by_test_id("side-session").nth(2).click()
        wait_until_on_page(
            page,
            "in front",
            lambda: self.rows(page)[2] in page.get_by_test_id("front").inner_text(),
        )
        page.get_by_test_id("side-group").first.click()
        wait_until_on_page(page, "folded", lambda: page.locator(".side-main:visible").count() == 4)
        page.get_by_test_id("toggle-sidebar").click()
        wait_until_on_page(page, "tabs", lambda: page.get_by_test_id("tab").count() == 8)
        page.keyboard.press("Alt+Shift+B")
        page.get_by_test_id("sidebar").wait_for()
        page.reload()
        page.get_by_test_id("sidebar").wait_for()
        page.set_viewport_size({"width": 701, "height": 700})
        expect(page.locator(".sidebar[data-rail=true] .side-initials:visible")).to_have_count(8)
        expect(page.get_by_test_id("tab")).to_have_count(0)

    def test_late_terminal_takes_the_focus_when_its_session_was_chosen(self) -> None:
        daemon = self.daemon()
        for number in range(7):
            self.session(daemon, f"task {number}", start=False)
        held: list[Route] = []
        context = self.context()
        context.route("**/assets/terminal-*.js", lambda route: held.append(route))
        page = self.page(daemon.url, context=context)
        row = page.get_by_test_id("side-session").nth(1)
        row.focus()
        page.keyboard.press("Enter")
        wait_until_on_page(page, "it in front", lambda: row.get_attribute("aria-current"))
        wait_until_on_page(page, "the terminal's code", lambda: held)
        held[0].continue_()
        chosen = row.get_attribute("data-session")
        expect_focus(page.locator(f"[data-testid=terminal][data-session='{chosen}'] textarea"))

    def test_sidebar_works_by_keyboard(self) -> None:
        daemon = self.daemon()
        for number in range(6):
            self.session(daemon, f"task {number}", start=False)
        first = daemon.request("GET", "/api/sessions").data()[0]["id"]
        self.session(daemon, "its child", start=False, parentSessionId=first)
        page = self.page(daemon.url)
        rows = page.get_by_test_id("side-session")
        rows.nth(6).wait_for()
        wanted = ["task 0", "its child", "task 1"]
        wait_until_on_page(page, "their order", lambda: self.rows(page)[:3] == wanted)
        parent, child = (rows.nth(at).bounding_box() for at in (0, 1))
        assert parent is not None
        assert child is not None
        self.assertLess(parent["x"], child["x"])
        rows.first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        wait_until_on_page(
            page, "the one below", lambda: "task 1" in page.get_by_test_id("front").inner_text()
        )
        # Its terminal takes the keyboard when it comes to the front.
        chosen = rows.nth(2).get_attribute("data-session")
        expect_focus(page.locator(f"[data-testid=terminal][data-session='{chosen}'] textarea"))
        rows.nth(2).focus()
        page.keyboard.press("F2")
        field = page.get_by_test_id("rename")
        expect_focus(field)
        page.keyboard.type("renamed")
        page.keyboard.press("Enter")
        wait_until_on_page(page, "its name", lambda: "renamed" in self.rows(page))
        expect_focus(rows.nth(2))
        rows.nth(2).click(button="right")
        page.get_by_role("menuitem", name="Rename").click()
        expect_focus(field)
        page.keyboard.type("not this")
        page.keyboard.press("Escape")
        field.wait_for(state="detached")
        self.assertIn("renamed", self.rows(page))
