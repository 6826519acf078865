"""Long lists of the browser UI in Chromium: 200 sessions scrolled, 1,000 entries searched.

The page's stand-in service has them, since a daemon would need as many programs.  What counts is
the time that the page's main thread had a processor, whatever else the machine does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page

from bench.pagetasks import CATEGORIES, Task, tasks
from bench.report import Row, limited, percentile
from tests.browser.harness import SHOWN
from tests.browser.mock_service import MockService
from tests.integration.harness import PATIENCE

SCROLLED = 200
FOUND = 1000
FRAME = 1000 / 60
"""Milliseconds of a frame, at 60 a second."""

KEYSTROKE = 16.0
LETTERS = "session number 77"
SETTLED = 2000
"""Milliseconds after which a page with so many sessions has nothing more to do."""

AFTER_KEY = 120
SCROLL = """box => new Promise((done) => {
  const end = box.scrollHeight - box.clientHeight;
  const step = (at) => {
    box.scrollTop = at;
    requestAnimationFrame(() => (at < end ? step(at + 60) : done()));
  };
  step(0);
})"""


def fill(mock: MockService, count: int) -> None:
    """Have so many sessions."""
    for number in range(len(mock.get("/api/status")["sessions"]), count):
        body = {
            "mode": "shell",
            "name": f"session number {number}",
            "workingDir": f"/w/{number % 23}",
        }
        head = {"Content-Type": "application/json"}
        request = Request(f"{mock.url}/api/sessions", json.dumps(body).encode(), head)
        with urlopen(request, timeout=PATIENCE) as answer:
            answer.read()


def opened(browser: Browser, mock: MockService, count: int) -> Page:
    """A page with so many sessions at its side."""
    fill(mock, count)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{mock.url}/?session={mock.session('build')}")
    page.wait_for_selector(f"{SHOWN}[data-painted]")
    page.get_by_test_id("side-session").nth(count - 1).wait_for(state="attached")
    page.wait_for_timeout(SETTLED)
    return page


def traced(browser: Browser, page: Page, act: Callable[[], Any]) -> list[Task]:
    """What the page's main thread did meanwhile."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    act()
    return tasks(json.loads(browser.stop_tracing())["traceEvents"])


def scroll(browser: Browser, mock: MockService) -> float:
    """Milliseconds of a frame's work while all sessions are scrolled through, p99."""
    page = opened(browser, mock, SCROLLED)
    side = page.get_by_test_id("sidebar")
    found = traced(browser, page, lambda: side.evaluate(SCROLL))
    page.close()
    return percentile([task.busy for task in found], 0.99)


def search(browser: Browser, mock: MockService) -> float:
    """Milliseconds that each letter keeps the page busy at a time, p50."""
    page = opened(browser, mock, FOUND)
    page.keyboard.press("Control+Shift+K")
    page.get_by_test_id("palette-row").first.wait_for()
    longest = []
    for letter in LETTERS:

        def press(letter: str = letter) -> None:
            page.keyboard.type(letter)
            page.wait_for_timeout(AFTER_KEY)

        longest.append(max(task.busy for task in traced(browser, page, press)))
    page.close()
    return percentile(longest, 0.5)


def rows(browser: Browser) -> list[Row]:
    """Both, against their limits."""
    mock = MockService()
    try:
        return [
            limited(f"{SCROLLED} sessions scrolled, task p99", scroll(browser, mock), FRAME, "ms"),
            limited(f"a letter among {FOUND} entries, p50", search(browser, mock), KEYSTROKE, "ms"),
        ]
    finally:
        mock.close()
