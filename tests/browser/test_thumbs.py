"""One thumb: what lies under it when it comes down is what it presses, at every width."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import TOO_WIDE, BrowserCase, wait_until_on_page
from tests.browser.mock_service import MockService
from tests.non_empty import require_items

AGENT = "hexadecimal floats"
CONTROLS = "button, a[href], input, select, summary, label"
WATCH = f"""() => {{
  const controls = "{CONTROLS}, textarea";
  const listen = (name, act) => addEventListener(name, act, {{ capture: true }});
  listen("touchstart", (event) => {{
    window.touched = {{ down: event.target.closest(controls) }};
  }});
  listen("touchend", (event) => {{
    const [{{ clientX, clientY }}] = event.changedTouches;
    touched.up = document.elementFromPoint(clientX, clientY)?.closest(controls);
  }});
  listen("click", (event) => {{
    touched.pressed = event.target.closest(controls);
    event.preventDefault();
    event.stopImmediatePropagation();
  }});
}}"""
"""Notes what each touch begins on, ends on and presses, and keeps the press from doing anything."""
TARGETS = f"""() => {{
  window.targets = [...document.querySelectorAll("{CONTROLS}")].filter((each) => {{
    if (each.disabled || each.closest("[inert]")) return false;
    each.scrollIntoView({{ block: "nearest", inline: "nearest" }});
    const {{ left, top, width, height }} = each.getBoundingClientRect();
    if (width === 0 || height === 0) return false;
    return each.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }});
  return targets.length;
}}"""
PLACE = """(at) => {
  const each = targets[at];
  if (!each.isConnected) return null;
  each.scrollIntoView({ block: "nearest", inline: "nearest" });
  const { left, top, width, height } = each.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  return width > 0 && each.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
}"""
HIT = """async (at) => {
  // A browser presses a moment after the finger left.
  const end = performance.now() + 20000;
  while (!touched.pressed && performance.now() < end) await new Promise(requestAnimationFrame);
  const { down, up, pressed } = touched;
  const name = (one) => one?.dataset.testid ?? one?.ariaLabel ?? one?.innerText ?? "nothing";
  const same = down === up && down === pressed && targets[at].contains(down);
  return same ? "" : `${name(targets[at])}: ${[down, up, pressed].map(name).join(", ")}`;
}"""
SETTLED = "each => Promise.all(each.getAnimations().map((one) => one.finished)).then(() => {})"
FIELD = "#prompt-field"


def phone(width: int) -> dict[str, Any]:
    """A device of a finger that is so many pixels wide."""
    size = {"width": width, "height": 1100 if width > 700 else 720}
    return {"viewport": size, "screen": size, "is_mobile": True, "has_touch": True}


class ThumbCase(BrowserCase):
    expected = (r"the server responded with a status of 404",)
    mock: MockService

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.mock = MockService()
        cls.addClassCleanup(cls.mock.close)

    def open(self, width: int, path: str = "") -> Page:
        page = self.page(f"{self.mock.url}{path}", **phone(width))
        page.get_by_test_id("approvals-bell").wait_for()
        return page


@pytest.mark.long(minutes=4)
class SteadyTargetTests(ThumbCase):
    """No control moves between the touch and its click."""

    def walk(self, page: Page, least: int, *, typing: bool = False) -> None:
        """Touch every control that is in sight, with the caret in the prompt or not."""
        page.evaluate(WATCH)
        if typing:
            page.locator(FIELD).focus()
        session = page.context.new_cdp_session(page)
        # Parts of the page come one after another.
        expected = f"{least} controls in sight"
        wait_until_on_page(page, expected, lambda: page.evaluate(TARGETS) >= least)
        faults, count = [], page.evaluate(TARGETS)
        for at in range(count):
            if typing:
                page.locator(FIELD).focus()
                # The keys go once the focus has settled.
                expect(page.get_by_test_id("keybar")).to_have_count(0)
            place = page.evaluate(PLACE, at)
            if place is None:
                continue
            x, y = place
            session.send(
                "Input.dispatchTouchEvent",
                {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]},
            )
            session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            fault = page.evaluate(HIT, at)
            faults += [fault] if fault else []
        self.assertEqual([], faults)
        session.detach()

    def test_controls_of_a_session_stay_under_the_finger(self) -> None:
        for width in (320, 390, 820):
            self.walk(self.open(width), 8)

    def test_controls_stay_under_the_finger_while_a_prompt_is_written(self) -> None:
        for width in (320, 390, 820):
            page = self.open(width)
            page.locator(FIELD).fill("something")
            self.walk(page, 3, typing=True)

    def test_controls_of_pages_stay_under_the_finger(self) -> None:
        for width in (320, 390, 820):
            for path, shown in (("/?page=approvals", "approval"), ("/?page=fleet", "fleet-card")):
                page = self.open(width, path)
                page.get_by_test_id(shown).first.wait_for()
                self.walk(page, 10)
            page = self.open(width)
            page.get_by_test_id("current" if width < 700 else "open-drawer").tap()
            page.get_by_test_id("drawer-session").first.wait_for()
            page.get_by_test_id("drawer").evaluate(SETTLED)
            self.walk(page, 8)


class RoomTests(ThumbCase):
    """Nothing runs out of the screen, and nothing covers the terminal."""

    def fits(self, page: Page, what: str) -> None:
        width = page.evaluate("() => document.documentElement.scrollWidth")
        self.assertLessEqual(width, 320, what)
        found = [each for each in page.evaluate(TOO_WIDE) if each not in SCROLLED]
        self.assertEqual([], found, what)

    def test_nothing_runs_out_of_the_narrowest_screen(self) -> None:
        agent = self.mock.session(AGENT)
        for kind in ("permission", "plan", "question", "trust", "blind"):
            self.mock.do("approval", kind=kind, id=agent)
            page = self.open(320, f"/?page=approvals&session={agent}")
            card = page.locator(f"[data-testid=approval][data-session='{agent}']")
            card.wait_for()
            if kind == "plan":
                page.get_by_test_id("approval-plan").get_by_role("heading").wait_for()
            self.fits(page, kind)
        page = self.open(320, "/?page=fleet")
        page.get_by_test_id("fleet-card").first.wait_for()
        self.fits(page, "fleet")

    def test_interrupt_and_arrows_are_in_reach_on_every_phone(self) -> None:
        for width in (320, 390, 820):
            page = self.open(width, f"/?session={self.mock.session('build')}")
            row = page.get_by_test_id("keyrow").bounding_box()
            assert row is not None
            for name in ("Escape", "Interrupt", "Enter"):
                key = page.get_by_test_id(f"key-{name}").bounding_box()
                assert key is not None
                self.assertLessEqual(key["x"] + key["width"], row["x"] + row["width"], name)
            for name in ("Left", "Up", "Down", "Right"):
                key = page.get_by_test_id(f"key-{name}").bounding_box()
                assert key is not None
                self.assertLessEqual(key["x"] + key["width"], width, name)

    def test_notices_cover_no_row_of_the_terminal(self) -> None:
        agent = self.mock.session(AGENT)
        self.mock.do("approval", kind="permission", id=agent)
        self.mock.do("limit", id=agent, minutes=42)
        for width in (320, 390, 720):
            page = self.open(width, f"/?session={agent}")
            terminal = page.locator("[data-testid=terminal]:not([hidden])")
            terminal.wait_for()
            for name in ("ask-notice", "limit-notice"):
                notice = page.get_by_test_id(name)
                notice.wait_for()
                over, under = notice.bounding_box(), terminal.bounding_box()
                assert over is not None
                assert under is not None
                apart = (
                    over["y"] + over["height"] <= under["y"] + 1
                    or over["y"] >= under["y"] + under["height"] - 1
                )
                self.assertTrue(apart, (name, width, over, under))

    def test_drawer_has_the_order_and_groups_of_the_sidebar(self) -> None:
        desk = self.page(self.mock.url, viewport={"width": 1440, "height": 900})
        if not desk.get_by_test_id("sidebar").is_visible():
            desk.get_by_test_id("toggle-sidebar").click()
        rows = desk.locator(".side-name")
        rows.first.wait_for()
        wanted = rows.all_inner_texts()
        groups = desk.locator("[data-testid=side-group] > span:first-child").all_inner_texts()
        page = self.open(390)
        page.get_by_test_id("current").tap()
        page.get_by_test_id("drawer-session").first.wait_for()
        self.assertEqual(wanted, require_items(page.locator(".row-name").all_inner_texts()))
        heads = page.locator(".rows-head").all_inner_texts()
        self.assertEqual(groups, [head.split("\n")[0] for head in heads])


SCROLLED = ("approval-context",)
"""Scrolls by itself."""
