"""Which failures of a run are run again, and what is said of them."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests import retry


class RetryTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.runs: list[tuple[str, ...]] = []
        self.last_failed = Path(self.mktemp()).absolute()
        self.patch(retry, "LAST_FAILED", self.last_failed)
        self.output = io.StringIO()

    def retry(self, failed: list[str], *statuses: int) -> int:
        """Run the tool; each of pytest's runs ends with the next of C{statuses}."""
        left = list(statuses)

        def run_pytest(*arguments: str) -> int:
            self.runs.append(arguments)
            self.last_failed.write_text(json.dumps(dict.fromkeys(failed, True)))
            return left.pop(0)

        self.patch(retry, "run_pytest", run_pytest)
        with contextlib.redirect_stdout(self.output):
            return retry.main(["-n", "4"])

    def test_green_run_is_not_repeated(self) -> None:
        self.assertEqual(0, self.retry([], 0))
        self.assertEqual([("-n", "4")], self.runs)

    def test_test_that_passes_alone_is_flaky_and_run_is_green(self) -> None:
        self.assertEqual(0, self.retry(["a.py::B::c"], 1, 0))
        self.assertEqual(("-n", "0", "a.py::B::c"), self.runs[1])
        self.assertIn("FLAKY a.py::B::c\n1 flaky", self.output.getvalue())

    def test_test_that_fails_alone_is_a_failure(self) -> None:
        self.assertEqual(1, self.retry(["a.py::B::c"], 1, 1))
        self.assertNotIn("FLAKY", self.output.getvalue())

    def test_too_many_failures_are_not_retried(self) -> None:
        many = [f"a.py::B::c{number}" for number in range(retry.MOST_RETRIED + 1)]
        self.assertEqual(1, self.retry(many, 1))
        self.assertEqual(1, len(self.runs))

    def test_error_of_the_run_is_passed_on(self) -> None:
        self.assertEqual(2, self.retry(["a.py"], 2))
        self.assertEqual(1, len(self.runs))

    def test_failures_of_an_earlier_run_do_not_count(self) -> None:
        self.last_failed.write_text('{"old.py::A::b": true}')
        self.patch(retry, "run_pytest", lambda *arguments: 1)
        self.assertEqual(1, retry.main([]))
