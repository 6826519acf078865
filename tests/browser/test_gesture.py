"""The gesture overlay (protocol-gesture): a played model in place of hands, and the real one."""

from __future__ import annotations

import os
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.axe import faults_in_both
from tests.browser.harness import BrowserCase, PageTerminal, wait_until_on_page
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness

PLAYED = """window.hands = [];
window.time = 0;
window.Hands = class {
  setOptions() {}
  onResults(heard) { this.heard = heard; }
  async initialize() {}
  async send() {
    if (hands.length === 0) return;
    const hand = hands.shift();
    time += 80;
    const { now } = performance;
    performance.now = () => time;
    this.heard({ multiHandLandmarks: hand ? [hand] : [] });
    performance.now = now;
  }
  async close() {}
};"""
"""Sees hands that a test has put there, one a look.  Its time goes on by 80 ms with each, and not
without one: how long a hand is held does not depend on the machine."""

LOOK = 0.08
"""Seconds between two looks."""
HELD = round(1 / LOOK)
"""Looks after which any hand has been held."""
FORGOTTEN = round(7 / LOOK)
"""Looks after which no second thumb is waited for."""


def hand(reach: float, thumb: tuple[float, float], low: float = 0.8) -> list[dict[str, float]]:
    """One upright: how far its fingers reach from the wrist, and where its thumb ends."""
    points = [{"x": 0.5, "y": low} for _ in range(21)]

    def put(index: int, across: float, up: float) -> None:
        points[index] = {"x": across, "y": low - up}

    for finger, base in enumerate((5, 9, 13, 17)):
        heights = (0.2, 0.28, (0.28 + reach) / 2, reach)
        for joint, up in enumerate(heights):
            put(base + joint, 0.44 + finger * 0.04, up)
    put(2, 0.42, 0.12)
    put(4, *thumb)
    return points


PINCH, THUMB = hand(0.42, (0.44, 0.41)), hand(0.14, (0.42, 0.42))


def palm(low: float) -> list[dict[str, float]]:
    return hand(0.42, (0.28, 0.2), low)


@pytest.mark.long
class GestureTests(BrowserCase):
    arguments = ("--use-fake-device-for-media-stream", "--enable-unsafe-swiftshader")
    whole = True
    running: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.running = played_daemon()
        cls.running.environment["SERVICE_GESTURE"] = "1"
        cls.addClassCleanup(cls.running.close)
        cls.running.start()
        cls.running.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()

    def shot(self, page: Page, name: str) -> None:
        """For eyes, where a folder for it is named."""
        folder = os.environ.get("SCREENSHOTS")
        if folder is not None:
            page.screenshot(path=f"{folder}/gesture-{name}.png")

    def show(self, page: Page, shown: Any, looks: int = HELD) -> None:
        """Hold a hand, or none, before the camera for so many looks."""
        page.evaluate("([hand, looks]) => hands.push(...Array(looks).fill(hand))", [shown, looks])
        page.wait_for_function("() => hands.length === 0")

    def switched_on(self, page: Page) -> None:
        page.get_by_test_id("gesture-switch").click()
        expect(page.get_by_test_id("gesture-status")).to_contain_text("Open palm: scroll")

    def test_gesture_model_loads_from_the_service_within_the_content_policy(self) -> None:
        """It is loaded when it is wanted, from the service alone; the camera is let go of."""
        context = self.context(permissions=["camera"])
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        page = self.page(self.running.url, context)
        expect(page.get_by_test_id("gesture-switch")).to_have_text("Gestures")
        self.assertEqual([], [url for url in asked if "/hands/" in url])
        self.switched_on(page)
        self.assertTrue([url for url in asked if url.endswith("wasm_bin.wasm")])
        self.assertEqual([], [url for url in asked if not url.startswith(self.running.url)])

    def test_gestures_of_hands_drive_the_terminal(self) -> None:
        shell = self.session(self.running, "shell")
        agent = PlayedSession(self.running, "primary", MockScenario(trust=False))
        self.addCleanup(agent.end)
        agent.prompt("RUN: touch made", wait="blocked")
        agent.item()
        context = self.context(permissions=["camera"])
        context.route("**/hands/hands.js", self.played)
        page = self.page(f"{self.running.url}/?session={shell}", context)
        PageTerminal(page).ready().focus().run("seq 200").wait("200")
        self.switched_on(page)
        self.show(page, palm(0.8))
        for step in range(1, 9):
            self.show(page, palm(0.8 - step * 0.05), looks=1)
        expect(page.get_by_test_id("to-end")).to_be_visible()

        status = page.get_by_test_id("gesture-status")
        self.show(page, THUMB)
        expect(status).to_contain_text("Thumbs up again")
        self.shot(page, "asked")
        self.assertEqual([], faults_in_both(page))
        # What is asked is soon forgotten.
        self.show(page, THUMB, looks=FORGOTTEN)
        expect(status).to_contain_text("Open palm: scroll")
        self.show(page, None)
        self.show(page, THUMB)
        expect(status).to_contain_text("Thumbs up again")
        self.show(page, THUMB)
        self.assertFalse(agent.made("made").exists(), "held however long")
        self.show(page, None)
        self.show(page, THUMB)
        expect(status).to_have_text("Approved")
        agent.until("the file", agent.made("made").exists)

        self.show(page, None)
        page.keyboard.press("Escape")
        self.show(page, PINCH)
        wait_until_on_page(page, "the next session", lambda: f"session={shell}" not in page.url)
        page.get_by_test_id("gesture-switch").click()
        video = page.locator(".gestures video")
        wait_until_on_page(
            page, "no camera", lambda: video.evaluate("each => each.srcObject === null")
        )

    def played(self, route: Route) -> None:
        route.fulfill(body=PLAYED, content_type="text/javascript")
