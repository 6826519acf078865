"""The page itself: its policy, its theme, its stream of events."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Request, Route, expect

from tests.browser.chromium import ChromiumPool
from tests.browser.harness import (
    GRAPHICS,
    LOST,
    PATIENCE,
    BrowserCase,
    PageTerminal,
    wait_until_on_page,
)

SILENCE_MS = 45_000
"""When the page calls a silent stream dead: three missed heartbeats (protocol-sse)."""
EVERY_PIXEL = """all => all.length > 0 &&
  all.every((each) => Math.abs(each.width - 2 * each.clientWidth) <= 1)"""
THEME = "() => document.documentElement.dataset.theme"


class PolicyTests(BrowserCase):
    expected = (r"policy: script-src", r"Content Security Policy")

    @pytest.mark.essential
    def test_foreign_script_is_blocked_and_reported(self) -> None:
        """What the other tests rely on when they find no line in the console."""
        daemon = self.daemon()
        page = self.page(daemon.url)
        lines: list[str] = []
        page.on("console", lambda message: lines.append(message.text))
        page.get_by_test_id("empty").wait_for()
        page.evaluate(
            """() => {
              const script = document.createElement("script");
              script.textContent = "window.intruder = true";
              document.head.append(script);
            }"""
        )
        wait_until_on_page(
            page, "a report", lambda: any(re.match("policy: script-src", line) for line in lines)
        )
        self.assertIsNone(page.evaluate("() => window.intruder ?? null"))


class ThemeTests(BrowserCase):
    def test_chosen_theme_survives_a_reload(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.terminal(daemon.url).page
        self.assertEqual("dark", page.evaluate(THEME))
        page.keyboard.press("Alt+Shift+S")
        page.locator("label:has([data-testid=theme-light])").click()
        dark = "() => getComputedStyle(document.body).backgroundColor"
        wait_until_on_page(page, "light", lambda: page.evaluate(THEME) == "light")
        light = page.evaluate(dark)
        page.reload()
        PageTerminal(page).ready()
        self.assertEqual("light", page.evaluate(THEME))
        self.assertEqual(light, page.evaluate(dark))

    def test_theme_follows_the_system_without_a_choice(self) -> None:
        daemon = self.daemon()
        page = self.page(daemon.url, color_scheme="light")
        page.get_by_test_id("empty").wait_for()
        self.assertEqual("light", page.evaluate(THEME))
        page.emulate_media(color_scheme="dark")
        wait_until_on_page(
            page,
            "dark",
            lambda: page.evaluate(THEME) == "dark",
        )


class EventStreamPageTests(BrowserCase):
    def test_silent_event_stream_is_reconnected(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        page = self.page("about:blank")
        streams: list[str] = []

        def requested(request: Request) -> None:
            if "/api/events" in request.url:
                streams.append(request.headers.get("last-event-id", ""))

        page.on("request", requested)
        page.clock.install()
        page.goto(daemon.url)
        PageTerminal(page).ready()
        self.assertEqual(1, len(streams))
        # Silence begins with the last word, whenever that is: not before now.
        before = page.evaluate("Date.now()")
        daemon.request("PUT", f"/api/sessions/{session}/name", {"name": "a word"}).data()
        name = page.locator(".tab-name")
        wait_until_on_page(page, "a word", lambda: name.inner_text() == "a word")
        page.clock.pause_at((before + SILENCE_MS - 5_000) / 1000)
        page.evaluate("() => fetch('api/status')")
        self.assertEqual(1, len(streams))
        page.clock.resume()

        def goes_on() -> bool:
            # A heartbeat may come in between.
            page.clock.fast_forward(6_000)
            return len(streams) > 1

        wait_until_on_page(page, "a new stream", goes_on)
        self.assertNotEqual("", streams[1])
        PageTerminal(page).ready().focus().run("echo alive-$((1 + 0))").wait("alive-1")


class ChangedNetworkTests(BrowserCase):
    """A phone that goes from one network to another: what is under way is cut."""

    expected = LOST

    def test_requests_cut_by_a_network_change_are_repeated(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.page("about:blank")
        cut: list[str] = []

        def once(route: Route) -> None:
            path = urlsplit(route.request.url).path
            if path in cut:
                route.continue_()
                return
            cut.append(path)
            route.abort("connectionaborted")

        page.route("**/api/**", once)
        page.goto(f"{daemon.url}/?page=clis")
        expect(page.get_by_test_id("cli").first).to_be_visible()
        PageTerminal(page).ready()
        self.assertLessEqual({"/api/events", "/api/clis", "/api/settings"}, set(cut))
        expect(page.get_by_test_id("toast")).to_have_count(0)
        expect(page.get_by_text("Can't reach")).to_have_count(0)


class DenseScreenTests(BrowserCase):
    def test_dense_screen_is_drawn_in_full(self) -> None:
        """A real one, not an emulated: the canvas has every device pixel."""
        daemon = self.daemon()
        self.session(daemon)
        dense = ChromiumPool("--force-device-scale-factor=2")
        self.addCleanup(dense.close)
        context = dense.browser.new_context(no_viewport=True)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.add_init_script(GRAPHICS)
        page.goto(daemon.url)
        terminal = PageTerminal(page).ready()
        self.assertEqual("webgl", terminal.attribute("renderer"))
        canvases = terminal.element.locator(".xterm-screen canvas")
        wait_until_on_page(page, "every pixel", lambda: canvases.evaluate_all(EVERY_PIXEL))
