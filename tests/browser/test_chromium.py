"""A Chromium that no longer answers is ended, and holds up nothing but its own test."""

from __future__ import annotations

import re
import signal
import unittest
from typing import ClassVar

from twisted.trial.unittest import SynchronousTestCase

from tests import run_figures
from tests.browser.chromium import BrowserUnanswered, ChromiumPool
from tests.browser.harness import BrowserCase

SOON = 1.0
"""Seconds; one that is stopped answers at no time."""
PAGE = "data:text/html,<h1>shown</h1>"
LATE = "Chromium did not {} for 1 s, and was ended"


class UnansweredTests(SynchronousTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.chromium = ChromiumPool(answers=SOON)
        self.addCleanup(self.chromium.close)

    def stop(self) -> None:
        """As if it hung."""
        self.chromium.send(signal.SIGSTOP)

    def test_page_that_does_not_close_fails_its_test_and_replaces_chromium(self) -> None:
        """The test that closes it fails; the next one gets another Chromium."""
        first = self.chromium.browser
        page = first.new_page()
        self.stop()
        with self.assertRaisesRegex(BrowserUnanswered, LATE.format("close a Page")):
            self.chromium.shut(page)
        self.assertFalse(first.is_connected())
        another = self.chromium.browser.new_page()
        another.goto(PAGE)
        self.assertIn("shown", another.content())

    def test_browser_call_without_its_own_limit_times_out(self) -> None:
        page = self.chromium.browser.new_page()
        self.stop()
        words = LATE.format("come to the end")
        with (
            self.assertRaisesRegex(BrowserUnanswered, words),
            self.chromium.limited("come to the end", 1),
        ):
            page.evaluate("1 + 1")

    def test_browser_that_does_not_end_is_killed_and_counted(self) -> None:
        first = self.chromium.browser
        self.stop()
        self.chromium.close()
        self.assertFalse(first.is_connected())
        self.assertEqual([(run_figures.KEY, LATE.format("end"))], run_figures.take_figures())

    def test_late_close_keeps_the_verdict_and_starts_a_new_browser(self) -> None:
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(played()).run(result)
        self.assertEqual((2, [], []), (result.testsRun, result.errors, result.failures))
        [(_, told)] = run_figures.take_figures()
        self.assertRegex(str(told), re.escape(LATE.format("close a BrowserContext")))


def played() -> type[BrowserCase]:
    """Two tests; of the windows that the first one has, none is closed.

    Made here, where no runner takes them for tests of its own.
    """

    class Played(BrowserCase):
        chromium: ClassVar[ChromiumPool]

        @classmethod
        def setUpClass(cls) -> None:
            super().setUpClass()
            cls.chromium = ChromiumPool(answers=SOON)
            cls.addClassCleanup(cls.chromium.close)

        def test_a_hang(self) -> None:
            for _ in range(2):
                self.assertIn("shown", self.page(PAGE).content())
            self.chromium.send(signal.SIGSTOP)

        def test_behind_it(self) -> None:
            self.assertIn("shown", self.page(PAGE).content())

    return Played
