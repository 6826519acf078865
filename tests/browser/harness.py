"""A real Chromium on the real daemon.

Everything is blocking: a test says what it waits for, and L{wait_until_on_page} asks again until it
is so or
L{PATIENCE} is over.  A page that logs an error, throws or breaks its content security policy
fails its test, unless the test has said which lines it expects.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
)
from twisted.trial.unittest import SynchronousTestCase

from tests.browser.chromium import ChromiumPool, chromium_path, shared_chromium
from tests.evidence import Files, register_source, unregister_source
from tests.held_port import HeldPort
from tests.integration.harness import LOOPBACK, DaemonHarness
from tests.waiting import SettledCondition

_T = TypeVar("_T")

PATIENCE = 60.0
"""Seconds that a page gets for anything; far more than it needs, also on a busy machine."""

LONGEST = 900.0
"""Seconds after which a test is held up by its Chromium: not every question to it has a limit."""

PICTURE_SECONDS = 10.0
"""How long a page of a failed test may take to draw itself."""

LASTING = 1.0
"""Seconds after which a size that is not the window's own is another one's."""

POLL_MS, SLOWEST_MS = 25, 100
"""Milliseconds between two looks, at first and in the end: to read a terminal takes 20 of a
processor, which the page then lacks."""
SHOWN = "[data-testid=terminal]:not([hidden])"
READ = """element => {
  const text = {};
  element.dispatchEvent(new CustomEvent("terminal:read", { detail: text }));
  return text;
}"""
# Chromium refuses it to a page whose window is not in front yet.
CLIPBOARD = "() => navigator.clipboard.readText().catch(() => null)"
INTO_CLIPBOARD = "text => navigator.clipboard.writeText(text).then(() => true, () => false)"
UNCOVERED = """element => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const points = [[(left + right) / 2, (top + bottom) / 2]];
  // Corners are rounded by up to 14 pixels, which takes the outer 4 of the diagonal.
  for (const x of [left + 6, right - 6]) for (const y of [top + 6, bottom - 6]) points.push([x, y]);
  return points.every(([x, y]) => element.contains(document.elementFromPoint(x, y)));
}"""
# Chromium itself logs a broken policy; this names the directive whatever it logs.
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "screen": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
"""A phone held upright, for a context's options."""

TOO_WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((each) => !each.closest(".terminal-host, .offscreen, .keyrow > *"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5)
  .map((each) => each.className)"""
"""The classes of what runs out of the window; terminals and rows of keys scroll."""

LISTEN = """(selector) => {
  window.heard = new Set();
  const listen = () => {
    for (const each of document.querySelectorAll(selector)) heard.add(each.innerText);
  };
  listen();
  const whole = { childList: true, subtree: true, characterData: true };
  new MutationObserver(listen).observe(document.body, whole);
}"""

GRAPHICS = """{
  const { getParameter } = WebGL2RenderingContext.prototype;
  const NAME = 0x9246;
  WebGL2RenderingContext.prototype.getParameter = function (which) {
    return which === NAME ? "a card" : getParameter.call(this, which);
  };
}"""
"""The page takes this machine for one with a graphics card, and draws with WebGL."""

WATCH_POLICY = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));"""

LOST = (
    r"WebSocket connection to .* failed",
    r"net::ERR_(CONNECTION|EMPTY|INCOMPLETE|INTERNET|NETWORK)",
    "An unknown error occurred when fetching the script",
)
"""What Chromium logs by itself where a test cuts or ends connections."""

DELETED = r"status of 404 \(Not Found\) \(.*/api/sessions/[\w-]+(/git-status\b.*)?\)"
"""What is asked about a session may arrive behind the order to delete it."""


def wait_until_on_page(page: Page, what: str, look: Callable[[], _T]) -> _T:
    """Ask C{look} again until it gives something true, and return that.

    @raise AssertionError: it never did; with C{what} and the last answer.
    """
    left, pause = PATIENCE * 1000, float(POLL_MS)
    while not (found := look()):
        if left <= 0:
            raise AssertionError(f"never: {what}; last {found!r}")
        page.wait_for_timeout(pause)
        left -= pause
        pause = min(1.2 * pause, SLOWEST_MS)
    return found


def start_new(page: Page) -> PageTerminal:
    """Start the session of the form that is open; the terminal in its place, once the form is gone:
    until then the keyboard is the form's.
    """
    page.get_by_test_id("new-start").click()
    page.get_by_test_id("new-start").wait_for(state="detached")
    return PageTerminal(page).ready()


def has_focus(element: Locator) -> bool:
    """Whether the page has given C{element} the focus.

    Playwright's C{to_be_focused} also wants the browser's window in front, which it is not always
    while the one of the test before it closes.
    """
    return bool(element.evaluate("each => each === each.ownerDocument.activeElement"))


def expect_focus(element: Locator) -> None:
    """Wait until L{has_focus}."""
    wait_until_on_page(element.page, f"focus on {element}", lambda: has_focus(element))


def read_clipboard(page: Page) -> str | None:
    """What is in the clipboard; C{None}: this page may not read it now."""
    found: str | None = page.evaluate(CLIPBOARD)
    return found


def put_into_clipboard(page: Page, text: str) -> None:
    """As if it was copied elsewhere."""
    wait_until_on_page(page, "a clipboard", lambda: page.evaluate(INTO_CLIPBOARD, text))


def listen_for_words(page: Page, selector: str = ".toast") -> None:
    """Keep what such elements say from now on, also what they say for a moment alone."""
    page.evaluate(LISTEN, selector)


def wait_for_words(page: Page, words: str) -> None:
    """Wait until one of those that are listened to has said so."""
    wait_until_on_page(page, words, lambda: words in page.evaluate("[...heard].join()"))


def is_uncovered(element: Locator) -> bool:
    """Whether an element lies in the window with its middle and corners covered by nothing."""
    return bool(element.evaluate(UNCOVERED))


class PageTerminal:
    """The terminal in front on a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def element(self) -> Locator:
        return self.page.locator(SHOWN)

    def ready(self) -> PageTerminal:
        """Wait until its screen is drawn, its connection open and its size settled."""
        self.page.wait_for_selector(f"{SHOWN}[data-painted][data-link=open][data-renderer]")
        # Until its claim is answered a page has another's size; that of another window stays.
        lasting = SettledCondition(
            lambda: (self.attribute("cols"), self.attribute("rows")), LASTING
        )
        wait_until_on_page(
            self.page, "its size", lambda: self.attribute("foreign") is None or lasting()
        )
        wait_until_on_page(self.page, "a settled size", self._settled)
        return self

    def _settled(self) -> bool:
        label = self.page.locator(".statusbar .grid")
        if not label.is_visible():
            return True
        cols, rows = self.attribute("cols"), self.attribute("rows")
        return label.inner_text() == f"{cols}×{rows}"

    def attribute(self, name: str) -> str | None:
        """One of its C{data-} attributes."""
        return self.element.get_attribute(f"data-{name}")

    def read(self) -> dict[str, Any]:
        """C{screen}, C{lines}, C{cursor}, C{cols} and C{rows}."""
        text: dict[str, Any] = self.element.evaluate(READ)
        return text

    def screen(self) -> list[str]:
        """The rows of the screen without blanks at their ends."""
        return [row.rstrip() for row in self.read()["screen"]]

    def has(self, pattern: str) -> bool:
        """Whether a row of the screen matches the whole of a pattern."""
        return any(re.fullmatch(pattern, row) for row in self.screen())

    def wait(self, pattern: str) -> PageTerminal:
        """Wait until a row matches the whole of a pattern."""
        try:
            wait_until_on_page(self.page, pattern, lambda: self.has(pattern))
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + "\n".join(self.screen())) from None
        return self

    def focus(self) -> PageTerminal:
        self.element.click()
        return self

    def type(self, text: str) -> PageTerminal:
        """Type on the keyboard, as fast as the page takes it."""
        self.page.keyboard.type(text)
        return self

    def run(self, command: str) -> PageTerminal:
        """Type a command and Enter."""
        self.type(command)
        self.page.keyboard.press("Enter")
        return self


class BrowserCase(SynchronousTestCase):
    """Has a Chromium, and starts a daemon for each test that asks for one.

    @cvar arguments: of the browser, beside those that all have; with some, it is the class's own.
    @cvar whole: whether it is the browser that people have: its shell, which most tests do with,
        shows no notification, has no microphone and no camera.
    """

    chromium: ClassVar[ChromiumPool]
    arguments: tuple[str, ...] = ()
    whole = False
    expected: tuple[str, ...] = ()
    """Patterns of console lines that are no failure in this test."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        expect.set_options(timeout=PATIENCE * 1000)
        chromium_path(whole=cls.whole)
        if cls.arguments:
            cls.chromium = ChromiumPool(*cls.arguments, whole=cls.whole)
            cls.addClassCleanup(cls.chromium.close)
        else:
            cls.chromium = shared_chromium(whole=cls.whole)

    def setUp(self) -> None:
        super().setUp()
        self.enterContext(self.chromium.limited("come to the end of the test", LONGEST))

    def daemon(self, **environment: str) -> DaemonHarness:
        """A running daemon whose shells have a short prompt and no history of others."""
        return self.daemon_at(LOOPBACK, **environment)

    def daemon_at(self, endpoint: str, **environment: str) -> DaemonHarness:
        """The same, where the test says."""
        daemon = DaemonHarness(**environment)
        self.addCleanup(daemon.close)
        (daemon.home / ".bash_profile").write_text("PS1='$ '\n")
        return daemon.start(listen=(endpoint,))

    def held(self) -> str:
        """Where a daemon can listen again, for nobody else gets the port meanwhile."""
        port = HeldPort()
        self.addCleanup(port.close)
        return port.endpoint

    def session(self, daemon: DaemonHarness, name: str = "one", **fields: Any) -> str:
        """A running shell in the daemon's home folder; its id."""
        body = {"mode": "shell", "start": True, "workingDir": str(daemon.home), "name": name}
        made = daemon.request("POST", "/api/sessions", {**body, **fields}).data()
        return str(made["session"]["id"])

    def record(self, daemon: DaemonHarness, session: str) -> dict[str, Any]:
        """What the service says of a session."""
        found: dict[str, Any] = daemon.request("GET", f"/api/sessions/{session}").data()
        return found

    def context(self, **options: Any) -> BrowserContext:
        """A browser window of its own, as another person's."""
        settings = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"}
        context = self.chromium.browser.new_context(**{**settings, **options})
        self.addCleanup(self.chromium.put_away, context)
        self.addCleanup(unregister_source, context)
        register_source(context, lambda: _pictures(context))
        context.set_default_timeout(PATIENCE * 1000)
        context.add_init_script(WATCH_POLICY)
        return context

    def page(self, url: str, context: BrowserContext | None = None, **options: Any) -> Page:
        """An open page."""
        page = (context or self.context(**options)).new_page()
        self.watch(page)
        page.goto(url)
        return page

    def terminal(
        self, url: str, context: BrowserContext | None = None, **options: Any
    ) -> PageTerminal:
        """The drawn terminal of a new page."""
        return PageTerminal(self.page(url, context, **options)).ready()

    def leave(self, page: Page) -> None:
        """Close a page, as a person does."""
        self.chromium.shut(page)

    def watch(self, page: Page) -> None:
        """Fail this test for what goes wrong on a page."""
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(f"thrown: {error}"))
        page.on("console", lambda message: self._heard(message, problems))
        self.addCleanup(lambda: self.assertEqual([], problems))

    def _heard(self, message: ConsoleMessage, problems: list[str]) -> None:
        line = f"{message.text} ({message.location.get('url', '')})"
        if message.type == "error" and not any(re.search(each, line) for each in self.expected):
            problems.append(line)


def _pictures(context: BrowserContext) -> Files:
    """Yield a picture of each page, and its address."""
    for number, page in enumerate(context.pages, 1):
        yield f"page-{number}.txt", page.url.encode()
        yield f"page-{number}.png", page.screenshot(timeout=PICTURE_SECONDS * 1000)


def captured_rows(daemon: DaemonHarness, session: str, *options: str) -> list[str]:
    """The rows of a session's screen as tmux has them, without blanks at their ends."""
    rows = ask_tmux(daemon, session, "capture-pane", "-p", *options).split("\n")[:-1]
    return [row.rstrip() for row in rows]


def ask_tmux(daemon: DaemonHarness, session: str, *words: str) -> str:
    """What the tmux of a session answers to a command."""
    socket = daemon.data / "mux" / f"{session}.sock"
    found = subprocess.run(
        ["tmux", "-u", "-S", str(socket), *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return found.stdout


def expect_same(daemon: DaemonHarness, session: str, terminal: PageTerminal) -> None:
    """Wait until a page shows row by row what tmux has, once what is under way has arrived."""
    try:
        wait_until_on_page(
            terminal.page, "same", lambda: captured_rows(daemon, session) == terminal.screen()
        )
    except AssertionError:
        shown = "\n".join(terminal.screen())
        held = "\n".join(captured_rows(daemon, session))
        raise AssertionError(f"the page shows\n{shown}\nand tmux has\n{held}") from None
