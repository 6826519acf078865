"""The Chromiums of this process: each is ended, also one that no longer answers.

Playwright waits without a limit for the answer to a close, and a Chromium that never gives it
would hold up every test behind it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from unittest import SkipTest

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    sync_playwright,
)

from tests.integration.harness import ROOT
from tests.run_figures import report_figure
from tests.waiting import PATIENCE

ANSWERS = 30.0
"""Seconds in which a Chromium closes something; a busy one needs two or three."""

WHOLE = ("chromium", "chromium-browser", "google-chrome")
SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
"""The same engine without what people have around a page: three fifths of its processor time."""
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path(*, whole: bool = True) -> str:
    """The path of a Chromium.

    @param whole: with all that people have; otherwise its shell, where there is one.
    @raise SkipTest: there is none, or the page is not built.
    """
    if not (ROOT / "tservice" / "static" / "index.html").exists():
        raise SkipTest("the browser UI is not built: run 'make web'")
    for name in WHOLE if whole else (*SHELLS, *WHOLE):
        path = shutil.which(name)
        if path is not None:
            return path
    raise SkipTest(f"no browser: none of {', '.join(WHOLE)} is on PATH")


@functools.cache
def shared_playwright() -> Playwright:
    """The one of this process: a second one cannot be started beside it."""
    started = sync_playwright().start()
    atexit.register(started.stop)
    return started


class BrowserUnanswered(AssertionError):
    """A Chromium gave no answer for too long, and was ended."""


class ChromiumPool:
    """One at a time: another one is started where the last was ended or has crashed."""

    def __init__(self, *arguments: str, answers: float = ANSWERS, whole: bool = False) -> None:
        """@param arguments: beside those that all have.
        @param answers: the seconds that it gets to close something.
        @param whole: as L{chromium_path} takes it.
        """
        self._arguments = [*ARGUMENTS, *arguments]
        self._whole = whole
        self._answers = answers
        self._browser: Browser | None = None
        self._lock = threading.Lock()
        self._process = -1

    @property
    def browser(self) -> Browser:
        """The one that runs."""
        if self._browser is None or not self._browser.is_connected():
            self._forget()
            self._start()
        assert self._browser is not None
        return self._browser

    def _start(self) -> None:
        found = shared_playwright().chromium.launch(
            executable_path=chromium_path(whole=self._whole),
            args=self._arguments,
            # It keeps reports of crashes and settings there.
            env={**os.environ, "HOME": tempfile.gettempdir()},
            timeout=PATIENCE * 1000,
        )
        session = found.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        self._browser = found
        # Whatever has its number later is another process.
        self._process = os.pidfd_open(
            next(each["id"] for each in processes if each["type"] == "browser")
        )

    def _forget(self) -> None:
        self._browser = None
        with self._lock:
            if self._process >= 0:
                os.close(self._process)
            self._process = -1

    def send(self, number: int) -> None:
        """Signal its process, if one runs."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._process >= 0:
                signal.pidfd_send_signal(self._process, number)

    @contextlib.contextmanager
    def limited(self, what: str, seconds: float) -> Iterator[None]:
        """End it if what is asked of it within takes longer.

        @raise Unanswered: it did.
        """
        late = threading.Event()

        def end() -> None:
            late.set()
            self.send(signal.SIGKILL)

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            yield
        except Error:
            if not late.is_set():
                raise
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            self._forget()
            raise BrowserUnanswered(f"Chromium did not {what} for {seconds:g} s, and was ended")

    def shut(self, what: Page | BrowserContext) -> None:
        """Close one of its pages or windows.

        @raise Unanswered: it gave no answer, and was ended.
        """
        with self.limited(f"close a {type(what).__name__}", self._answers):
            what.close()

    def put_away(self, context: BrowserContext) -> None:
        """Close a window behind a test, whose verdict is no longer the business of Chromium.

        One that gives no answer is told of at the end of the run.
        """
        if context.browser is not self._browser:
            # It went with its browser.
            return
        try:
            self.shut(context)
        except BrowserUnanswered as error:
            report_figure(f"{error}; the test before was over")

    def close(self) -> None:
        """End it."""
        if self._browser is None:
            return
        try:
            with self.limited("end", self._answers):
                self._browser.close()
        except BrowserUnanswered as error:
            report_figure(str(error))
        self._forget()


@functools.cache
def shared_chromium(*, whole: bool = False) -> ChromiumPool:
    """The one of this process and kind, which ends with it.

    Its contexts keep nothing from each other.
    """
    return ChromiumPool(whole=whole)
