"""Typed characters on a slow way to the service: shown at once, marked until they are echoed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from bench.delay import Delay
from bench.report import percentile
from tests.browser.harness import BrowserCase, PageTerminal, wait_until_on_page
from tests.integration.harness import DaemonHarness
from tests.run_figures import report_figure

ONE_WAY = 0.15
"""Seconds each way: 300 ms to the service and back."""

TYPED_APART_MS = 90
"""Milliseconds between two keys of somebody who types fast."""

PAUSE_MS = 700
"""Milliseconds that somebody looks at a result."""

FRAME_MS = 16
LINES = (
    "echo the quick brown fox",
    "ls -la /usr/lib | wc -l",
    "git status --short",
    "for i in 1 2 3; do echo n; done",
    "cat /etc/hostname",
)

WATCH = """() => {
  const watched = (window.echoWatch = { keys: [], drawn: [] });
  const host = document.querySelector("[data-testid=terminal]:not([hidden])");
  const look = () => {
    const layer = host.querySelector(".local-echo");
    if (!layer) return;
    const cells = [...layer.children];
    const caret = cells.findIndex((each) => each.classList.contains("caret"));
    const screen = layer.parentElement;
    const [cols, rows] = [Number(host.dataset.cols), Number(host.dataset.rows)];
    const text = cells.slice(0, caret).map((each) => each.textContent).join("");
    const x = Math.round(parseFloat(layer.style.left) / (screen.clientWidth / cols));
    const y = Math.round(parseFloat(layer.style.top) / (screen.clientHeight / rows));
    const marked = cells.every((each) => getComputedStyle(each).textDecorationLine === "underline");
    watched.drawn.push({ at: performance.now(), text, x, y, marked });
  };
  new MutationObserver(look).observe(host, { childList: true, subtree: true });
  addEventListener("keydown", ({ key, timeStamp }) => {
    if (key.length === 1) watched.keys.push({ at: timeStamp, key });
  }, { capture: true });
}"""


def drawn_texts(page: Page) -> list[dict[str, Any]]:
    """Return every state of the layer over the terminal that had text."""
    drawn: list[dict[str, Any]] = page.evaluate("echoWatch.drawn.filter(({text}) => text)")
    return drawn


def get_delays(page: Page) -> list[float]:
    """Return for each key the milliseconds until it was drawn; infinite if its echo came first."""
    keys, drawn = page.evaluate("[echoWatch.keys, echoWatch.drawn]")

    def delay_of(key: dict[str, Any]) -> float:
        later = (
            each["at"] - key["at"]
            for each in drawn
            if each["at"] >= key["at"] and each["text"].endswith(key["key"])
        )
        found = next(later, float("inf"))
        return found if found < 1000 * ONE_WAY else float("inf")

    return [delay_of(key) for key in keys]


class LocalEchoTests(BrowserCase):
    def far_terminal(self, daemon: DaemonHarness) -> PageTerminal:
        """Return a terminal whose round trip takes 300 ms, with the code for the echo loaded."""
        port = urlsplit(daemon.url).port
        assert port is not None
        delay = Delay(port, ONE_WAY)
        self.addCleanup(delay.close)
        terminal = self.terminal(f"http://127.0.0.1:{delay.port}")
        # A throttled page, as on a slow line; the frames of a WebSocket are held up by the relay.
        cdp = terminal.page.context.new_cdp_session(terminal.page)
        cdp.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": 2000 * ONE_WAY,
                "downloadThroughput": -1,
                "uploadThroughput": -1,
            },
        )
        terminal.focus().run("PS1='me$ '").wait(r"me\$")
        layer = terminal.page.locator(".local-echo")
        wait_until_on_page(terminal.page, "the echo's code", lambda: layer.count() == 1)
        terminal.page.evaluate(WATCH)
        return terminal

    def type_line(self, terminal: PageTerminal, line: str) -> list[dict[str, Any]]:
        """Type a line and return the guesses at it that the program contradicted."""
        page = terminal.page
        first = len(drawn_texts(page))
        page.keyboard.type(line, delay=TYPED_APART_MS)
        terminal.wait(rf".*\$ {'.' * len(line)}")
        guesses, screen = drawn_texts(page)[first:], terminal.read()["screen"]
        self.assertTrue(all(each["marked"] for each in guesses))
        return [
            each
            for each in guesses
            if screen[each["y"]].ljust(200)[each["x"] :][: len(each["text"])] != each["text"]
        ]

    @pytest.mark.essential
    def test_typed_letters_show_at_once_where_a_shell_echoes(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.far_terminal(daemon)
        page = terminal.page
        wrong = []
        for line in LINES:
            wrong += self.type_line(terminal, line)
            page.keyboard.press("Enter")
            page.wait_for_timeout(PAUSE_MS)
        delays = get_delays(page)
        soon = sum(each <= FRAME_MS for each in delays)
        guesses = len(drawn_texts(page))
        report_figure(
            f"typed letters at 300 ms: {soon} of {len(delays)} within {FRAME_MS} ms "
            f"({soon / len(delays):.0%}), p50 {percentile(delays, 0.5):.1f} ms; "
            f"{len(wrong)} of {guesses} guesses wrong"
        )
        # The share depends on how busy the machine is, that they are ahead of their echo does not.
        ahead = sum(each < 1000 * ONE_WAY for each in delays)
        self.assertGreaterEqual(ahead / len(delays), 0.7)
        self.assertLess(len(wrong) / guesses, 0.01)
        # Once everything is echoed, nothing lies over the terminal.
        layer = page.locator(".local-echo > *")
        wait_until_on_page(page, "nothing more to come", lambda: layer.count() == 0)

        # A secret and a program that has the whole screen are left alone.
        terminal.run("read -rsp 'Password: ' secret; clear; echo got-${#secret}").wait("Password:")
        shown = len(drawn_texts(page))
        page.keyboard.type("swordfish", delay=TYPED_APART_MS)
        page.keyboard.press("Enter")
        terminal.wait("got-9")
        self.assertEqual(shown, len(drawn_texts(page)))
        terminal.run("less /etc/services").wait(".*ssh.*")
        shown = len(drawn_texts(page))
        page.keyboard.type("jjkk", delay=TYPED_APART_MS)
        page.keyboard.type("q")
        terminal.wait("got-9")
        self.assertEqual(shown, len(drawn_texts(page)))

        # Switched off in the settings, letters wait for their echo.
        page.evaluate(
            """() => {
              const key = "tservice.prefs";
              const prefs = { ...JSON.parse(localStorage.getItem(key)), localEcho: false };
              localStorage.setItem(key, JSON.stringify(prefs));
            }"""
        )
        page.reload()
        terminal.ready().focus().run("echo $((40+2))").wait("42")
        self.assertEqual(0, page.locator(".local-echo").count())
