"""The page's settings: saved as they change, and how a terminal looks, in a real Chromium."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import find_faults
from tests.browser.harness import PHONE, BrowserCase, PageTerminal, expect_focus, wait_until_on_page
from tests.integration.harness import DaemonHarness

COLOUR = """<key>{name}</key><dict><key>Red Component</key><real>{red}</real>
<key>Green Component</key><real>0</real><key>Blue Component</key><real>0.4</real></dict>"""
ITERM = (
    '<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>'
    + COLOUR.format(name="Background Color", red=0)
    + COLOUR.format(name="Foreground Color", red=1)
    + "</dict></plist>"
)
CODE = '{"colors": {"terminal.background": "#fafafa", "terminal.foreground": "#202020",},}'


class SettingsTests(BrowserCase):
    expected = (r"the server responded with a status of 400",)
    service: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        (cls.service.home / ".bash_profile").write_text("PS1='$ '\n")
        cls.service.start()

    def kept(self, name: str) -> object:
        """What the service has."""
        return self.service.request("GET", "/api/settings").data()[name]

    def faultless(self, page: Page) -> None:
        self.assertEqual([], find_faults(page))

    @pytest.mark.essential
    def test_changed_setting_is_saved_and_can_be_reset(self) -> None:
        page = self.page(f"{self.service.url}/?page=settings")
        name = page.get_by_test_id("setting-displayName")
        name.fill("workshop")
        name.press("Enter")
        expect(page.get_by_test_id("mark-displayName")).to_contain_text("Saved")
        self.assertEqual("workshop", self.kept("displayName"))
        page.get_by_test_id("undo-displayName").click()
        expect(page.get_by_test_id("mark-displayName")).to_have_text("Undone")
        self.assertNotEqual("workshop", self.kept("displayName"))

        folder = page.get_by_test_id("setting-defaultWorkingDir")
        folder.fill("relative/path")
        folder.press("Enter")
        mark = page.get_by_test_id("mark-defaultWorkingDir")
        expect(mark).to_have_attribute("data-state", "refused")
        expect(folder).to_have_value("relative/path")
        expect(folder).to_have_attribute("aria-invalid", "true")
        self.assertNotIn("defaultWorkingDir", mark.inner_text())
        self.faultless(page)

        switch = page.get_by_role("switch", name="Plan usage")
        before = self.kept("showPlanUsageLimits")
        switch.click()
        expect(page.get_by_test_id("mark-showPlanUsageLimits")).to_contain_text("Saved")
        self.assertNotEqual(before, self.kept("showPlanUsageLimits"))

    def test_text_being_typed_survives_a_refresh_of_the_settings(self) -> None:
        page = self.page(f"{self.service.url}/?page=settings")
        name = page.get_by_test_id("setting-displayName")
        lines = page.get_by_test_id("setting-historyLimit")
        for number, (field, typed) in enumerate(((name, "half a na"), (lines, "5432"))):
            field.fill(typed)
            # Another device, while somebody types here.
            folder = f"/tmp/{number}"
            self.service.request("PUT", "/api/settings", {"defaultWorkingDir": folder}).data()
            expect(page.get_by_test_id("setting-defaultWorkingDir")).to_have_value(folder)
            expect(field).to_have_value(typed)
            field.press("Enter")
        expect(page.get_by_test_id("mark-displayName")).to_contain_text("Saved")
        expect(page.get_by_test_id("mark-historyLimit")).to_contain_text("Saved")
        self.assertEqual(("half a na", 5432), (self.kept("displayName"), self.kept("historyLimit")))

        # What is left as it was found follows what others make of it.
        name.fill("other")
        name.fill("half a na")
        name.blur()
        self.service.request("PUT", "/api/settings", {"displayName": "elsewhere"}).data()
        expect(name).to_have_value("elsewhere")

    def test_every_settings_section_is_one_press_away(self) -> None:
        ways: tuple[dict[str, Any], ...] = ({}, PHONE)
        for options in ways:
            page = self.page(f"{self.service.url}/?page=settings", **options)
            nav = page.get_by_test_id("settings-nav-service")
            nav.click()
            expect(nav).to_have_attribute("aria-current", "true")
            expect(page.get_by_test_id("setting-displayName")).to_be_in_viewport()
            expect_focus(page.get_by_test_id("setting-displayName"))
            page.get_by_test_id("settings-nav-look").click()
            expect(page.get_by_test_id("theme-dark").locator("..")).to_be_in_viewport()

    def test_terminal_follows_colours_font_and_line_height_settings(self) -> None:
        self.session(self.service)
        terminal = self.terminal(self.service.url)
        page = terminal.page
        rows = int(terminal.attribute("rows") or 0)
        page.keyboard.press("Alt+Shift+S")
        choose = page.get_by_test_id("palette-file")
        for name, text, ground in (
            ("Plum.itermcolors", ITERM, "rgb(0, 0, 102)"),
            ("Paper.json", CODE, "rgb(250, 250, 250)"),
        ):
            choose.set_input_files({"name": name, "mimeType": "", "buffer": text.encode()})
            wait_until_on_page(page, ground, partial(self.has_ground, terminal, ground))
        choose.set_input_files({"name": "x.json", "mimeType": "", "buffer": b"{}"})
        expect(page.get_by_test_id("palette-problem")).to_contain_text("no background colour")
        self.assertEqual("rgb(250, 250, 250)", self.ground(terminal))
        self.faultless(page)
        page.get_by_test_id("line-height").fill("180")
        page.get_by_test_id("line-height").press("Enter")
        page.get_by_test_id("font-family").fill("DejaVu Sans Mono")
        page.get_by_test_id("font-family").press("Enter")
        wait_until_on_page(
            page, "fewer rows", lambda: int(terminal.attribute("rows") or 0) < rows * 0.8
        )
        page.reload()
        terminal = PageTerminal(page).ready()
        wait_until_on_page(page, "kept", lambda: self.ground(terminal) == "rgb(250, 250, 250)")
        stored = json.loads(page.evaluate("localStorage.getItem('tservice.prefs')"))
        wanted = {
            "terminalTheme": "own-paper",
            "fontFamily": "DejaVu Sans Mono",
            "lineHeight": 180,
        }
        self.assertEqual(wanted, {name: stored[name] for name in wanted})
        page.keyboard.press("Alt+Shift+S")
        page.get_by_test_id("palette-remove").click()
        wait_until_on_page(
            page, "the page's own", lambda: self.ground(terminal) == "rgb(10, 13, 16)"
        )

    def has_ground(self, terminal: PageTerminal, colour: str) -> bool:
        return self.ground(terminal) == colour

    def ground(self, terminal: PageTerminal) -> str:
        found: str = terminal.element.evaluate("each => getComputedStyle(each).backgroundColor")
        return found

    def test_first_focusable_element_offers_the_screen_reader_mode(self) -> None:
        self.session(self.service, "one")
        terminal = self.terminal(self.service.url)
        offer = terminal.page.get_by_test_id("screen-reader-offer")
        first = "document.querySelector('a[href], button, input, textarea, [tabindex]')"
        self.assertTrue(offer.evaluate(f"each => each === {first}"))
        offer.focus()
        self.faultless(terminal.page)
        terminal.page.keyboard.press("Enter")
        terminal.element.locator(".xterm-accessibility").wait_for(state="attached")
        expect(offer).to_have_attribute("aria-pressed", "true")
